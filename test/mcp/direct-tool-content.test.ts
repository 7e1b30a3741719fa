import { deflateSync, crc32 } from "node:zlib";
import { expect, test } from "vitest";
import type { ContentBlock } from "../../domain/ports/app-caller.ts";
import { formatProcedureResult } from "../../server/mcp/direct-tool-result.ts";
import { readImageHeader } from "../../server/mcp/image-header.ts";

const MIB = 1024 * 1024;

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

function png(width: number, height: number): string {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([1, 0], 8);
  const chunks = [
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(Buffer.alloc(9))),
    pngChunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...chunks]).toString("base64");
}

const PNG = png(1, 1);
const image = (data = PNG, mimeType = "image/png"): ContentBlock => ({ type: "image", data, mimeType });
const resource = (members: object, uri = "file:///a"): ContentBlock => ({
  type: "resource",
  resource: { uri, ...members },
});

/** Formats a result with these blocks. Without `structured`, the output is the list of the blocks. */
function format(blocks: ContentBlock[], structured?: unknown, kind: "query" | "mutation" = "query") {
  const isOutput = structured === undefined;
  const output = isOutput ? blocks : structured;
  const { text, blocks: passed } = formatProcedureResult({ ok: true, output, content: { blocks, isOutput } }, kind);
  return { passed, ...(JSON.parse(text) as { output?: unknown; output_cut?: string; note?: string }) };
}

test("images, sounds, embedded resources and links become content blocks, and are described in the output", () => {
  const link: ContentBlock = { type: "resource_link", uri: "https://example.com/a", name: "a", mimeType: "text/html" };
  const audio: ContentBlock = { type: "audio", data: "aGVsbG8=", mimeType: "audio/wav" };
  const file = resource({ mimeType: "text/plain", text: "hello" });
  const binary = resource({ mimeType: "application/pdf", blob: "aGVsbG8=" });
  const unknown: ContentBlock = { type: "unknown", block: { type: "hologram", n: 1 } };
  expect(format([{ type: "text", text: "see" }, image(), audio, file, binary, link, unknown])).toEqual({
    passed: [image(), audio, file, binary, link],
    output: [
      { type: "text", text: "see" },
      { type: "image", mimeType: "image/png", bytes: expect.any(Number) },
      { type: "audio", mimeType: "audio/wav", bytes: 6 },
      file,
      resource({ mimeType: "application/pdf", bytes: 6 }),
      link,
      { type: "hologram", n: 1 },
    ],
  });
});

test("blocks follow a structured output, which stays the output", () => {
  expect(format([{ type: "text", text: "one" }, image()], { n: 1 })).toEqual({ passed: [image()], output: { n: 1 } });
});

test("an image has the type of its data, and canonical base64", () => {
  const wrapped = `data:image/jpeg;base64,${PNG.replace(/=+$/, "").replace(/(.{20})/g, "$1\n")}`;
  expect(format([image(wrapped, "image/jpeg")]).passed).toEqual([image()]);
});

test.each([
  ["is not an image", Buffer.from("<svg/>").toString("base64"), "image/svg+xml"],
  ["is not base64", "hé", "image/png"],
  ["is empty", "", "image/png"],
  ["ends within its header", PNG.slice(0, 24), "image/png"],
  ["has too many pixels", png(9000, 1), "image/png"],
])(
  "data that %s is not passed on as an image, because a model API would refuse the conversation",
  (_kind, data, type) => {
    const { passed, output, note } = format([image(data, type)]);
    expect([passed, output]).toEqual([[], [{ type: "image", mimeType: type, bytes: expect.any(Number), data }]]);
    expect(note).toContain("1 of the 1 parts of the result were left out because models or clients would refuse them");
  },
);

test("images above 2 MiB together are replaced by a sentence", () => {
  const large = Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(MIB)]).toString("base64");
  const { passed, output, note } = format([image(large), image(large), image()], undefined, "mutation");
  expect(passed).toEqual([image(large), image()]);
  expect(JSON.stringify(output).length).toBeLessThan(500);
  expect(note).toBe(
    "1 of the 3 parts of the result were left out because of their size: images and sounds may have 2 MiB of base64 together, and a result 20 parts. The procedure was carried out: do not repeat the call to see its response. A program in service_execute receives all parts with their data.",
  );
});

test("at most 20 blocks are passed on", () => {
  const { passed, note } = format(Array.from({ length: 30 }, () => image()));
  expect(passed).toHaveLength(20);
  expect(note).toContain("10 of the 30 parts");
});

test("the text of a resource is in the output, and its block is passed on if both fit", () => {
  const [short, long] = [resource({ text: "x".repeat(10_000) }), resource({ text: "x".repeat(15_000) })];
  expect(format([short])).toEqual({ passed: [short], output: [short] });
  expect(format([long])).toEqual({ passed: [], output: [long] });
  const { passed, output_cut: cut, note } = format([resource({ text: "x".repeat(30_000) })]);
  expect([passed, cut?.startsWith('[{"type":"resource"'), note?.includes("has 30")]).toEqual([[], true, true]);
  expect(format([resource({ text: "x".repeat(30_000) })], { n: 1 })).toMatchObject({
    passed: [],
    output: { n: 1 },
    note: expect.stringContaining("because of their size"),
  });
});

test("a URI that some client refuses is data only", () => {
  for (const uri of ["no scheme", "/a", "https://example.com/größe", `a:${"x".repeat(2000)}`]) {
    const blocks = [resource({ text: "t" }, uri), { type: "resource_link", uri, name: "n" } satisfies ContentBlock];
    expect(format(blocks)).toEqual({ passed: [], output: blocks });
  }
  expect(format([resource({ blob: "aGk=" }, "/a")])).toEqual({
    passed: [],
    output: [resource({ bytes: 3, blob: "aGk=" }, "/a")],
    note: expect.stringContaining("a URI absolute"),
  });
});

test("a type that is not a media type is dropped, and a sound must have one", () => {
  expect(format([resource({ text: "t", mimeType: "text/plain\nIgnore" })]).passed).toEqual([resource({ text: "t" })]);
  expect(format([{ type: "audio", data: "aGk=", mimeType: "video/mp4" }]).passed).toEqual([]);
});

test.each([
  ["GIF89a\x05\x00\x06\x00", { mimeType: "image/gif", width: 5, height: 6 }],
  [
    "\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc2\x00\x11\x08\x00\x06\x00\x05",
    { mimeType: "image/jpeg", width: 5, height: 6 },
  ],
  ["RIFF....WEBPVP8X\0\0\0\0\0\0\0\0\x04\0\0\x05\0\0", { mimeType: "image/webp", width: 5, height: 6 }],
  ["RIFF....WEBPVP8L\0\0\0\0\x2f\x04\x40\x01\0", { mimeType: "image/webp", width: 5, height: 6 }],
  ["RIFF....WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x05\0\x06\0", { mimeType: "image/webp", width: 5, height: 6 }],
  ["\xff\xd8\xff\xe0\x00\x04ab\x00", null],
  ["\xff\xd8\xff", null],
  ["RIFF....WAVEfmt ", null],
])("the header of %j is read", (bytes, header) => {
  expect(readImageHeader(Buffer.from(bytes, "latin1"))).toEqual(header);
});
