import { expect, test } from "vitest";
import { trpcApp } from "../../support/procedures/test-discovery.ts";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

/** Discovers a router with one procedure that has this input, and returns its input schema. */
async function discoverInput(input: string): Promise<unknown> {
  const body = `const appRouter = t.router({ only: t.procedure${input}.query(() => 1) });`;
  const { procedures, problem } = await shared().discover(trpcApp(body));
  expect([problem, procedures.map(({ name }) => name)]).toEqual([null, ["only"]]);
  return procedures[0]?.inputSchema;
}

test("zod 3 inputs are converted to JSON Schema", async () => {
  const schema = await discoverInput(`.input(z3.object({
    email: z3.string().email().max(80).describe("Where to write to"),
    count: z3.number().int().min(1).default(3),
    tags: z3.array(z3.enum(["a", "b"])).max(5).optional(),
    owner: z3.object({ id: z3.string().uuid() }).strict().nullable(),
    kind: z3.union([z3.literal("x"), z3.number().gt(0)]),
    scores: z3.record(z3.number()),
    trimmed: z3.string().transform((text) => text.length),
    when: z3.coerce.date(),
  }))`);
  expect(schema).toEqual({
    type: "object",
    properties: {
      email: { type: "string", format: "email", maxLength: 80, description: "Where to write to" },
      count: { type: "integer", minimum: 1, default: 3 },
      tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, maxItems: 5 },
      owner: {
        anyOf: [
          {
            type: "object",
            properties: { id: { type: "string", format: "uuid" } },
            required: ["id"],
            additionalProperties: false,
          },
          { type: "null" },
        ],
      },
      kind: {
        anyOf: [
          { type: "string", const: "x" },
          { type: "number", exclusiveMinimum: 0 },
        ],
      },
      scores: { type: "object", additionalProperties: { type: "number" } },
      trimmed: { type: "string" },
      when: { type: "string", format: "date-time" },
    },
    required: ["email", "owner", "kind", "scores", "trimmed", "when"],
  });
});

test("zod 3 defaults, transformations and tuples are converted for input and output separately", async () => {
  const body = `
    const schema = z3.object({
      count: z3.number().default(3),
      length: z3.string().transform((text) => text.length),
      even: z3.number().refine((n) => n % 2 === 0),
      pair: z3.tuple([z3.string(), z3.boolean()]),
      more: z3.tuple([z3.string()]).rest(z3.number()),
      at: z3.coerce.date().describe("When"),
    });
    const appRouter = t.router({ only: t.procedure.input(schema).output(schema).query(() => null as never) });`;
  const { procedures } = await shared().discover(trpcApp(body));
  const common = {
    count: { type: "number", default: 3 },
    even: { type: "number" },
    pair: {
      type: "array",
      prefixItems: [{ type: "string" }, { type: "boolean" }],
      minItems: 2,
      maxItems: 2,
      items: false,
    },
    more: { type: "array", prefixItems: [{ type: "string" }], minItems: 1, items: { type: "number" } },
    at: { type: "string", format: "date-time", description: "When" },
  };
  const required = ["length", "even", "pair", "more", "at"];
  expect(procedures[0]?.inputSchema).toEqual({
    type: "object",
    properties: { ...common, length: { type: "string" } },
    required,
  });
  expect(procedures[0]?.outputSchema).toEqual({
    type: "object",
    properties: { ...common, length: {} },
    required: [...required, "count"],
  });
});

test("a recursive zod 3 schema is converted", async () => {
  const body = `const tree: z3.ZodTypeAny = z3.lazy(() => z3.object({ children: z3.array(tree) }));
    const appRouter = t.router({ only: t.procedure.input(tree).query(() => 1) });`;
  const { procedures, problem } = await shared().discover(trpcApp(body));
  expect([problem, procedures[0]?.inputSchema]).toMatchObject([null, { properties: { children: { type: "array" } } }]);
});

test("inputs of early zod 4 versions are converted with their descriptions", async () => {
  const schema = await discoverInput(
    `.input(z40.object({ id: z40.int().describe("The number"), at: z40.date().optional() }))`,
  );
  expect(schema).toMatchObject({
    type: "object",
    properties: { id: { type: "integer", description: "The number" }, at: {} },
    required: ["id"],
  });
});

test("a type that JSON Schema cannot express accepts any value, and the rest of the input is converted", async () => {
  expect(await discoverInput(`.input(z.object({ at: z.custom(), note: z.string() }))`)).toEqual({
    type: "object",
    properties: { at: {}, note: { type: "string" } },
    required: ["at", "note"],
  });
});

test("two inputs of a procedure become one schema that requires both, with working references", async () => {
  const body = `
    const node = z.object({ get below() { return z.array(node).optional(); } });
    const both = t.procedure.input(z.object({ a: z.string() })).input(z.object({ tree: node }));
    const appRouter = t.router({ only: both.query(() => 1) });`;
  const { procedures } = await shared().discover(trpcApp(body));
  const schema = procedures[0]?.inputSchema;
  const references = JSON.stringify(schema).match(/"#\/[^"]*"/g) ?? [];
  expect(schema).toMatchObject({ type: "object", allOf: [{ required: ["a"] }, { required: ["tree"] }] });
  expect(references.length).toBeGreaterThan(0);
  for (const reference of references) expect(reference).toMatch(/^"#\/allOf\/1\//);
});

test("superjson is recognized, and any other transformer is reported as a problem", async () => {
  const body = `const appRouter = t.router({ only: t.procedure.query(() => 1) });`;
  const withSuperjson = await shared().discover(trpcApp(body, { create: "transformer: superjson" }));
  expect(withSuperjson.problem).toBeNull();
  expect(withSuperjson.procedures[0]?.invocation).toMatchObject({
    via: "trpc",
    endpoint: "/trpc",
    transformer: "superjson",
  });
  const custom = `transformer: { serialize: (x: unknown) => [x], deserialize: (x: any) => x[0] }`;
  const withCustom = await shared().discover(trpcApp(body, { create: custom }));
  expect(withCustom).toEqual({
    procedures: [],
    problem: expect.stringContaining("data transformer other than superjson"),
  });
});

test("procedures of lazy routers are found, and subscriptions are named as left out", async () => {
  const { procedures, problem } = await shared().discover(
    trpcApp(`const inner = t.router({ deep: t.procedure.mutation(() => 1) });
      const appRouter = t.router({
        now: t.procedure.query(() => 1),
        live: t.procedure.subscription(async function* () { yield 1; }),
        slow: lazy(async () => t.router({ one: t.procedure.query(() => 1), more: lazy(async () => inner) })),
      });`),
  );
  expect(procedures.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "query now",
    "query slow.one",
    "mutation slow.more.deep",
  ]);
  expect(problem).toBe('Left out because they are subscriptions, which have no end: "live".');
});

test("the endpoint of a router is found, and a router that is not served is reported as a problem", async () => {
  const body = `const appRouter = t.router({ only: t.procedure.query(() => 1) });`;
  const below = await shared().discover(trpcApp(body, { endpoint: "/api/trpc" }));
  expect(below.procedures[0]?.invocation).toMatchObject({ endpoint: "/api/trpc" });
  const named = await shared().discover(trpcApp(body, { endpoint: "/rpc/v1" }));
  expect(named.procedures[0]?.invocation).toMatchObject({ endpoint: "/rpc/v1" });
  const unnamed = trpcApp(body, { endpoint: "/elsewhere" }).replaceAll(`"/elsewhere"`, `["", "elsewhere"].join("/")`);
  const nowhere = await shared().discover(unnamed);
  expect(nowhere).toEqual({ procedures: [], problem: expect.stringContaining("neither at /trpc nor at /api/trpc") });
});

test("a router that is not exported is found when it handles requests, also at the root of the app", async () => {
  const routers = `
    const inner = t.router({ deep: t.procedure.mutation(() => 1) });
    const appRouter = t.router({ now: t.procedure.query(() => 1), inner });
    t.router({ unused: t.procedure.query(() => 1) });`;
  for (const endpoint of ["/trpc", ""]) {
    const source = trpcApp(routers, { endpoint }).replace("export { appRouter };", "");
    const { procedures, problem } = await shared().discover(source);
    expect([procedures.map(({ name, invocation }) => [name, invocation]), problem]).toEqual([
      [
        ["now", { via: "trpc", endpoint, transformer: "none", isInputOptional: true }],
        ["inner.deep", { via: "trpc", endpoint, transformer: "none", isInputOptional: true }],
      ],
      null,
    ]);
  }
});

test("an app that depends on tRPC's server and has no router is told how to make it discoverable", async () => {
  const files = { "package.json": JSON.stringify({ dependencies: { "@trpc/server": "^11" } }) };
  const { problem } = await shared().discover(`export default { fetch: () => new Response("") };`, { files });
  expect(problem).toContain("Export the router from the main module as appRouter");
});

test("an app that fails without its bindings keeps its procedures, and the assumed endpoint is reported", async () => {
  const source = trpcApp(`const appRouter = t.router({ only: t.procedure.query(() => 1) });`).replace(
    "fetch: (req: Request) =>",
    "fetch: (req: Request, env: any) => env.DB.prepare('x') &&",
  );
  const { procedures, problem } = await shared().discover(source);
  expect(procedures.map(({ name, invocation }) => [name, invocation])).toEqual([
    ["only", { via: "trpc", endpoint: "/trpc", transformer: "none", isInputOptional: true }],
  ]);
  expect(problem).toContain("/trpc is assumed");
});

test("a validator without JSON Schema accepts any input, and is reported", async () => {
  const body = `const appRouter = t.router({ only: t.procedure.input((x: unknown) => String(x)).query(() => 1) });`;
  const { procedures, problem } = await shared().discover(trpcApp(body));
  expect(procedures[0]).toMatchObject({ name: "only", inputSchema: {} });
  expect(problem).toContain('"only"');
});
