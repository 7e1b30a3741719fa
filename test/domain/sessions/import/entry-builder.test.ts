import { expect, test } from "vitest";
import { CalledTools } from "../../../../domain/sessions/import/called-tools.ts";
import { EntryBuilder } from "../../../../domain/sessions/import/entry-builder.ts";
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
