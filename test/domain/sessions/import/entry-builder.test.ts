import { expect, test } from "vitest";
import { CalledTools } from "../../../../domain/sessions/import/called-tools.ts";
import { EntryBuilder, toStorableText, truncateBytes } from "../../../../domain/sessions/import/entry-builder.ts";
import { toTitle } from "../../../../domain/sessions/import/session-title.ts";
import { toJsonText } from "../../../../domain/sessions/import/stringify-json.ts";

const draft = { id: "a", role: "user", content: "Hello" } as const;

test("an entry without a valid time has that of the entry before it", () => {
  const builder = new EntryBuilder();
  const times = [undefined, "1970-01-01T00:00:00Z", "tomorrow", 7, "1969-12-31T23:59:59Z", "2999-01-01T00:00:00Z"];
  expect(times.map((time) => builder.build({ ...draft, time }).created_at)).toEqual([
    undefined,
    ...Array.from({ length: 5 }, () => "1970-01-01T00:00:00.000Z"),
  ]);
});

test("an entry has the ids and names that can be stored", () => {
  const build = (name: unknown, callId: unknown, model: unknown) =>
    new EntryBuilder().build({ ...draft, tool: { name, callId, isError: true }, model, time: undefined });
  expect(build("two words", "c1", "claude")).toMatchObject({
    tool: { name: "two words", call_id: "c1", is_error: true },
    model: "claude",
  });
  for (const value of ["", " a", "x".repeat(129), 7, undefined])
    expect(build(value, value, value)).toMatchObject({
      tool: { name: "unknown", call_id: undefined },
      model: undefined,
    });
  expect(new EntryBuilder().build({ ...draft, time: undefined })).not.toHaveProperty("tool");
});

test("the name of a tool is known once, for the result of its call", () => {
  const calls = new CalledTools();
  calls.add("c1", "Bash");
  calls.add("c2", "x".repeat(128));
  calls.add("c3", "x".repeat(129));
  calls.add("c4", ["Bash"]);
  calls.add("not an id", "Bash");
  const ids = ["c1", "c1", "c2", "c3", "c4", "not an id", undefined];
  expect(ids.map((id) => calls.take(id))).toEqual(["Bash", undefined, "x".repeat(128), ...Array(4).fill(undefined)]);
});

test("the names of the last 1,000 calls are known", () => {
  const calls = new CalledTools();
  for (let call = 0; call <= 1000; call++) calls.add(`c${call}`, `tool-${call}`);
  expect([calls.take("c0"), calls.take("c1"), calls.take("c1000")]).toEqual([undefined, "tool-1", "tool-1000"]);
});

test("a value is written as JSON unless it is nested more than 100 levels deep", () => {
  const nested = (depth: number) => Array.from({ length: depth }).reduce<unknown>((inner) => [inner, 1], 7);
  expect(toJsonText(nested(100))).toBe(JSON.stringify(nested(100)));
  expect(toJsonText(nested(101))).toBe('"[nested too deeply]"');
  expect([toJsonText(null), toJsonText("a"), toJsonText(undefined)]).toEqual(["null", '"a"', ""]);
});

const CUT = "\n[The rest is not imported.]";

test("NUL characters and unpaired surrogates are replaced, and other characters stay", () => {
  expect(toStorableText("a\0b\0 \ud83d 😀\u0001\n")).toBe("a\ufffdb\ufffd \ufffd 😀\u0001\n");
});

test.each(["x", "é", "€", "😀"])(
  "a text of %s is cut at a character, and only if it exceeds the limit",
  (character) => {
    const size = Buffer.byteLength(character);
    for (let limit = 100; limit < 110; limit++)
      for (let count = 1; count <= 120; count++) {
        const text = character.repeat(count);
        const cut = truncateBytes(text, limit);
        const room = Math.floor((limit - CUT.length) / size);
        expect(cut).toBe(count * size <= limit ? text : character.repeat(room) + CUT);
      }
  },
);

test("a title is the first line with visible text", () => {
  for (const lineBreak of ["\n", "\r", "\r\n", "\u2028", "\u2029"])
    expect(toTitle(`${lineBreak} \t\u200b${lineBreak}First\tline ${lineBreak}Second`)).toBe("First line");
  expect(toTitle("Half of a pair \ud83d")).toBe("Half of a pair \ufffd");
});

test("a text without visible characters makes no title", () => {
  for (const text of ["", " \t", "\n\r\u2028", "\u200b\u0007"]) expect(toTitle(text)).toBeNull();
});

test("a title has at most 100 characters, and says when it is cut", () => {
  expect(toTitle("x".repeat(100))).toBe("x".repeat(100));
  expect(toTitle("x".repeat(101))).toBe(`${"x".repeat(99)}…`);
  expect(toTitle(`${"x".repeat(98)}😀 more`)).toBe(`${"x".repeat(98)}…`);
  expect(toTitle(`${"x".repeat(97)}  and more`)).toBe(`${"x".repeat(97)}…`);
});

test("the first 10,000 characters of a text are searched for a title", () => {
  expect(toTitle(`${" ".repeat(9999)}xy`)).toBe("x");
  expect(toTitle(`${" ".repeat(10_000)}x`)).toBeNull();
});
