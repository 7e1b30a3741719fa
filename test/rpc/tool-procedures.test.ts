import { expect, test } from "vitest";
import type { Meta } from "../../routers/core/trpc.ts";
import { appRouter } from "../../routers/index.ts";

const PROCEDURES = Object.entries(appRouter._def.procedures as unknown as Record<string, { _def: { meta?: Meta } }>);
const withTool = PROCEDURES.filter(([, { _def }]) => _def.meta?.tool !== undefined);
const withoutRest = withTool.filter(([, { _def }]) => _def.meta?.openapi === undefined);

test("most tools are operations of REST, and each other one says why it is not", () => {
  expect(withTool).toHaveLength(27);
  expect(withoutRest.length).toBeLessThanOrEqual(8);
  expect(withoutRest.filter(([, { _def }]) => !(_def.meta?.withoutRest?.reason ?? "").includes(" "))).toEqual([]);
  const others = PROCEDURES.filter((each) => !withoutRest.includes(each));
  expect(others.filter(([, { _def }]) => _def.meta?.withoutRest !== undefined).map(([path]) => path)).toEqual([]);
});

test("each argument of a tool is a field of the input of its procedure", () => {
  for (const [path, procedure] of withTool) {
    const { meta, inputs } = (procedure as unknown as { _def: { meta: Meta; inputs: { shape: object }[] } })._def;
    const { arguments: args, fields = {}, ownAgent } = meta.tool ?? {};
    const input = Object.keys(inputs[0]?.shape ?? {});
    const used = Object.keys(args?.shape ?? {}).map((name) => fields[name] ?? name);
    expect([path, used.filter((field) => !input.includes(field))]).toEqual([path, []]);
    const unknown = [...Object.keys(fields).filter((name) => !(name in (args?.shape ?? {})))];
    expect([path, unknown]).toEqual([path, []]);
    expect(input).toEqual(expect.arrayContaining(ownAgent === undefined ? [] : [ownAgent]));
  }
});
