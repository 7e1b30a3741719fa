import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { replaceTestedRows } from "../support/tested-with.ts";

const page = (rows: string) => `# Tools

## Tested with

Tested by a script.

| Tool | Version | Works | Limits |
|---|---|---|---|
${rows}
## Next

| a | b |
`;

test("a tested row replaces the row of the same name, a new one is added, and everything else stays", () => {
  const text = page("| a | 1 | all |  |\n| b | 1 | all |  |\n");
  const rows = [
    { name: "a", version: "2", works: "`call`", limits: ["no | images", "a <b>\n`c`"] },
    { name: "c", version: "3", works: "all", limits: [] },
  ];
  const expected = "| a | 2 | `call` | no \\| images; a \\<b\\> \\`c\\` |\n| b | 1 | all |  |\n| c | 3 | all |  |\n";
  expect(replaceTestedRows(text, rows)).toBe(page(expected));
});

test("a page without the table is an error", () => {
  expect(() => replaceTestedRows("# Tools\n\n## Tested with\n\nNothing.\n", [])).toThrow("Tested with");
});

test.each(["clients.md", "frameworks.md", "openclaw.md"])(
  "docs/%s has one table, and its rows can be replaced",
  (name) => {
    const text = readFileSync(path.resolve(import.meta.dirname, "../../docs", name), "utf8");
    expect(replaceTestedRows(text, [])).toBe(text);
    expect(text.match(/^\|---/gm)).toHaveLength(1);
  },
);
