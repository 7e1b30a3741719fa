import { Readable } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { protocolHeaders } from "../../clients/cli/src/mcp/protocol-headers.ts";
import { readLines } from "../../clients/cli/src/mcp/read-lines.ts";
import { readMessages } from "../../clients/cli/src/mcp/read-events.ts";

async function linesOf(chunks: (Buffer | string)[], maxBytes = 1000): Promise<(string | null)[]> {
  const lines: (string | null)[] = [];
  for await (const line of readLines(Readable.from(chunks), maxBytes)) lines.push(line?.toString() ?? null);
  return lines;
}

/** Splits bytes at positions, also within a character. */
function split(bytes: Buffer, positions: number[]): Buffer[] {
  const ends = [...positions.map((each) => each % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end));
}

test("lines are the same however their bytes arrive", async () => {
  const line = fc.string({ unit: "grapheme" }).filter((text) => text !== "" && !/[\r\n]/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat()), async (lines, positions) => {
      const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(""));
      expect(await linesOf(split(bytes, positions))).toEqual(lines);
    }),
  );
});

test("empty lines are left out, a last line needs no end, and a line above the limit is null", async () => {
  expect(await linesOf(["\n\r\na", "b\n\n", "c\n", "d"])).toEqual(["ab", "c", "d"]);
  expect(await linesOf(["12345\n123456\n1234", "56\n1\n"], 5)).toEqual(["12345", null, null, "1"]);
  expect(await linesOf(["123", "456"], 5)).toEqual([null]);
});

test("the messages of a stream are the same however its bytes arrive, with any line end, and without other events", async () => {
  const stream =
    ': comment\n\ndata: {"ä":\ndata: 1}\n\nevent: endpoint\ndata: /x\n\nevent: message\ndata: 2\n\nid: 7\n\n';
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat()), fc.constantFrom("\n", "\r\n"), async (positions, end) => {
      const chunks = split(Buffer.from(stream.replaceAll("\n", end)), positions).map((each) => new Uint8Array(each));
      const messages: string[] = [];
      for await (const text of readMessages(ReadableStream.from(chunks), 1000)) messages.push(text);
      expect(messages).toEqual(['{"ä":\n1}', "2"]);
    }),
  );
});

test("a stream that is silent for too long ends", async () => {
  let isCanceled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from("data: 1\n\n")),
    cancel: () => void (isCanceled = true),
  });
  const messages: string[] = [];
  for await (const text of readMessages(body, 20)) messages.push(text);
  expect([messages, isCanceled]).toEqual([["1"], true]);
});

const VERSION = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };

test("headers repeat what Streamable HTTP requires, and can contain every name", () => {
  const request = (method: string, params: object) => ({ id: 1, method, params: { _meta: VERSION, ...params } });
  const modern = { "mcp-protocol-version": "2026-07-28" };
  expect(protocolHeaders(request("tools/list", {}), null)).toEqual({ ...modern, "mcp-method": "tools/list" });
  for (const [name, header] of [
    ["apps_list", "apps_list"],
    ["two words", "two words"],
    [" x", "=?base64?IHg=?="],
    ["wörk", "=?base64?d8O2cms=?="],
    ["a\nb", "=?base64?YQpi?="],
    ["", "=?base64??="],
    ["=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="],
  ] as const) {
    const headers = protocolHeaders(request("tools/call", { name }), null);
    expect(headers).toEqual({ ...modern, "mcp-method": "tools/call", "mcp-name": header });
    expect(new Headers(headers).get("mcp-name")).toBe(header);
  }
  expect(protocolHeaders(request("resources/read", { uri: "a:b" }), null)).toMatchObject({ "mcp-name": "a:b" });
});

test("messages of earlier revisions have the revision of their session only", () => {
  expect(protocolHeaders({ id: 1, method: "tools/list" }, "2025-11-25")).toEqual({
    "mcp-protocol-version": "2025-11-25",
  });
  expect(protocolHeaders({ id: 1, method: "initialize" }, null)).toEqual({});
  expect(protocolHeaders({ method: "x", params: { _meta: { ...VERSION, x: 1 } } }, null)).toEqual({
    "mcp-protocol-version": "2026-07-28",
  });
});
