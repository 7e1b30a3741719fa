import { expect, test } from "vitest";
import { z } from "zod";
import { frozen } from "../../domain/shared/frozen.ts";
import { checkedOnce } from "../../routers/core/checked-once.ts";

const inner = z.object({ names: z.array(z.string()) });

test("what cannot change is checked once and stays one object, which cannot change either", () => {
  const schema = checkedOnce(inner);
  const data = frozen({ names: ["a"], secret: "not in the schema" });
  const first = schema.parse(data);
  expect(first).toEqual({ names: ["a"] });
  expect(schema.parse(data)).toBe(first);
  expect([Object.isFrozen(first), Object.isFrozen(first.names)]).toEqual([true, true]);
});

test("what can change is checked each time", () => {
  const schema = checkedOnce(inner);
  const data = { names: ["a"] as unknown[] };
  expect(schema.parse(data)).toEqual({ names: ["a"] });
  data.names.push(1);
  expect(() => schema.parse(data)).toThrow("expected string");
});

test("what is wrong is refused each time", () => {
  const schema = checkedOnce(inner);
  const data = frozen({ names: [1] });
  for (const _time of [1, 2]) expect(() => schema.parse(data)).toThrow("expected string");
});

test("the schema describes itself as before", () => {
  expect(z.toJSONSchema(checkedOnce(inner))).toEqual(z.toJSONSchema(inner));
});
