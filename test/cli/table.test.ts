import { expect, test } from "vitest";
import { cut, displayWidth } from "../../clients/cli/src/display-width.ts";
import { formatCell, renderTable, renderValue } from "../../clients/cli/src/render-value.ts";

const HEADINGS = ["SLUG", "STATUS", "ID"];
const ROWS = [
  ["guestbook-k7m2xq", "ready", "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"],
  ["a", "failed", "1b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"],
];

test("a table is never wider than the terminal, and its ids are complete", () => {
  const rows = ROWS.map(([slug = "", ...others]) => [slug.repeat(5), ...others]);
  for (const width of [62, 70, 80, 200]) {
    const text = renderTable(HEADINGS, rows, width);
    expect([width, Math.max(...text.split("\n").map((line) => line.length)) <= width]).toEqual([width, true]);
    for (const row of rows) expect(text).toContain(row[2]);
  }
});

test("wide characters count as two columns, and combining marks as none", () => {
  expect(["ab", "日本", "e\u0301", "👍\ufe0f", "한 a"].map(displayWidth)).toEqual([2, 4, 1, 2, 4]);
  expect([cut("日本語の名前", 7), cut("日本語の名前", 12), cut("abc", 2), cut("e\u0301e\u0301e\u0301", 2)]).toEqual([
    "日本語…",
    "日本語の名前",
    "a…",
    "e\u0301…",
  ]);
  const rows = [
    ["日本語の名前".repeat(4), "ready"],
    ["plain", "failed"],
  ];
  const text = renderTable(["NAME", "STATUS"], rows, 40);
  expect(text.split("\n").map(displayWidth)).toEqual([40, 39, 40]);
  expect(text.split("\n").map((line) => displayWidth(line.replace(/\S+$/, "")))).toEqual([34, 34, 34]);
});

test("a table in a pipe is not cut, and columns are aligned", () => {
  expect(renderTable(HEADINGS, ROWS, null)).toBe(
    [
      "SLUG              STATUS  ID",
      "guestbook-k7m2xq  ready   0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e",
      "a                 failed  1b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e",
    ].join("\n"),
  );
});

test("a terminal of 20 columns gets one line for each cell, and no text is lost", () => {
  expect(renderTable(HEADINGS, ROWS, 20)).toBe(
    ROWS.map(([slug, status, id]) => `SLUG: ${slug}\nSTATUS: ${status}\nID: ${id}`).join("\n\n"),
  );
});

test("an object has one line for each field, and a list in it is a table", () => {
  const usage = { plan: "free", next_cursor: null, quotas: [{ metric: "apps", used: 1, limit: 3 }] };
  expect(renderValue(usage, null)).toBe("plan: free\nMETRIC  USED  LIMIT\napps    1     3");
  expect(renderValue({ apps: [] }, null)).toBe("");
});

test("a cell has one line without control characters", () => {
  expect([formatCell("a\nb\u0007\u001b[31m"), formatCell(null), formatCell(true), formatCell(["x", "y"])]).toEqual([
    "a b[31m",
    "-",
    "yes",
    "x, y",
  ]);
});
