import { expect, test } from "vitest";
import { trpcApp } from "../../support/procedures/test-discovery.ts";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

/** A router with one procedure for each zod, of a router with the given options. */
const withTypes = (fields: string, options: { create?: string }) =>
  trpcApp(
    `const appRouter = t.router({
      four: t.procedure.input(((z) => z.object({ ${fields} }))(z)).query(() => 1),
      three: t.procedure.input(((z: any) => z.object({ ${fields} }))(z3)).query(() => 1),
    });`,
    options,
  );

test("with superjson, dates, bigints, sets and maps are described with their types, in zod 4 and zod 3", async () => {
  const fields = "at: z.date(), big: z.bigint(), tags: z.set(z.string()), ages: z.map(z.string(), z.number())";
  const { procedures, problem } = await shared().discover(withTypes(fields, { create: "transformer: superjson" }));
  expect(problem).toBeNull();
  const pair = { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false };
  for (const { inputSchema } of procedures)
    expect(inputSchema).toMatchObject({
      properties: {
        at: { type: "string", format: "date-time", "x-js-type": "Date" },
        big: { type: "string", "x-js-type": "bigint" },
        tags: { type: "array", items: { type: "string" }, "x-js-type": "Set" },
        ages: { type: "array", items: pair, "x-js-type": "Map" },
      },
    });
  expect(procedures.map(({ name }) => name)).toEqual(["four", "three"]);
});

test("without superjson, an input that requires a date or set is named, and one that converts a text itself is offered", async () => {
  const impossible = await shared().discover(withTypes("at: z.date().nullish(), tags: z.set(z.string())", {}));
  expect(impossible).toEqual({
    procedures: [],
    problem: expect.stringContaining('without the transformer superjson: "four", "three".'),
  });
  const fields = "at: z.coerce.date(), big: z.coerce.bigint(), later: z.date().optional()";
  const { procedures, problem } = await shared().discover(withTypes(fields, {}));
  expect([problem, procedures.length]).toEqual([null, 2]);
  for (const { inputSchema } of procedures) {
    expect(inputSchema).toMatchObject({ properties: { at: { format: "date-time" }, later: { not: {} } } });
    expect(JSON.stringify(inputSchema)).not.toContain("x-js-type");
  }
});

test("the inputs of a procedure say whether a call without input is valid", async () => {
  const body = `
    const add = (input: any) => t.procedure.input(input).query(() => 1);
    const appRouter = t.router({
      none: t.procedure.query(() => 1),
      nothing: add(z.void()),
      nothing3: add(z3.undefined()),
      optional: add(z.object({ a: z.string() }).optional()),
      withDefault: add(z.string().default("x")),
      optional3: add(z3.string().optional()),
      object: add(z.object({})),
      text: add(z.string()),
      asynchronous: add(z.string().refine(async () => true)),
      merged: t.procedure.input(z.object({ a: z.string() }).optional()).input(z.object({ b: z.string() })).query(() => 1),
      own: add((value: unknown) => { if (typeof value !== "string") throw new Error("no"); return value; }),
    });`;
  const { procedures } = await shared().discover(trpcApp(body));
  const isOptional = ({ invocation }: (typeof procedures)[number]) =>
    invocation.via === "trpc" && invocation.isInputOptional === true;
  expect(procedures.map((procedure) => [procedure.name, isOptional(procedure)])).toEqual([
    ["none", true],
    ["nothing", true],
    ["nothing3", true],
    ["optional", true],
    ["withDefault", true],
    ["optional3", true],
    ["object", false],
    ["text", false],
    ["asynchronous", false],
    ["merged", false],
    ["own", false],
  ]);
  for (const { inputSchema } of procedures.slice(0, 3))
    expect(inputSchema).toEqual({ type: "object", properties: {}, additionalProperties: false });
});

test("a procedure whose name is no name of a tool gets another one, and is called by its own", async () => {
  const body = `const appRouter = t.router({ "größe": t.procedure.query(() => 1), grosse: t.procedure.query(() => 2) });`;
  const { procedures, problem } = await shared().discover(trpcApp(body));
  expect(problem).toBeNull();
  expect(procedures.map(({ name }) => name)).toContain("grosse");
  const renamed = procedures.find(({ name }) => name !== "grosse");
  expect(renamed?.name).toMatch(/^[A-Za-z][A-Za-z0-9_]+$/);
  expect(renamed?.invocation).toMatchObject({ procedure: "größe" });
});
