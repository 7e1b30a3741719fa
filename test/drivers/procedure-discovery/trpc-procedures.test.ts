import { expect, test } from "vitest";
import { trpcApp } from "../../support/procedures/test-discovery.ts";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

/** The input schema of the only procedure of a router with this input. */
async function inputOf(input: string): Promise<unknown> {
  const body = `const appRouter = t.router({ only: t.procedure${input}.query(() => 1) });`;
  const { procedures, problem } = await shared().discover(trpcApp(body));
  expect([problem, procedures.map(({ name }) => name)]).toEqual([null, ["only"]]);
  return procedures[0]?.inputSchema;
}

test("inputs in zod 3 are described", async () => {
  const schema = await inputOf(`.input(z3.object({
    email: z3.string().email().max(80).describe("Where to write to"),
    count: z3.number().int().min(1).default(3),
    tags: z3.array(z3.enum(["a", "b"])).max(5).optional(),
    owner: z3.object({ id: z3.string().uuid() }).strict().nullable(),
    kind: z3.union([z3.literal("x"), z3.number().gt(0)]),
    scores: z3.record(z3.number()),
    trimmed: z3.string().transform((text) => text.length),
    when: z3.date(),
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
      kind: { anyOf: [{ const: "x" }, { type: "number", exclusiveMinimum: 0 }] },
      scores: { type: "object", additionalProperties: { type: "number" } },
      trimmed: { type: "string" },
      when: {},
    },
    required: ["email", "owner", "kind", "scores", "trimmed", "when"],
  });
});

test("a zod 3 schema that contains itself ends somewhere", async () => {
  const body = `const tree: z3.ZodTypeAny = z3.lazy(() => z3.object({ children: z3.array(tree) }));
    const appRouter = t.router({ only: t.procedure.input(tree).query(() => 1) });`;
  const { procedures, problem } = await shared().discover(trpcApp(body));
  expect([problem, procedures[0]?.inputSchema]).toMatchObject([null, { properties: { children: { type: "array" } } }]);
});

test("inputs in early versions of zod 4 are described, with their descriptions", async () => {
  const schema = await inputOf(
    `.input(z40.object({ id: z40.int().describe("The number"), at: z40.date().optional() }))`,
  );
  expect(schema).toMatchObject({
    type: "object",
    properties: { id: { type: "integer", description: "The number" }, at: {} },
    required: ["id"],
  });
});

test("what JSON Schema has no words for is left open, and the rest is described", async () => {
  expect(await inputOf(`.input(z.object({ at: z.date(), note: z.string() }))`)).toEqual({
    type: "object",
    properties: { at: {}, note: { type: "string" } },
    required: ["at", "note"],
  });
});

test("two inputs of a procedure must both accept what it is given, and keep their references", async () => {
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

test("superjson is recognized, and so is a transformer that nobody knows", async () => {
  const body = `const appRouter = t.router({ only: t.procedure.query(() => 1) });`;
  const known = await shared().discover(trpcApp(body, { create: "transformer: superjson" }));
  expect(known.problem).toBeNull();
  expect(known.procedures[0]?.invocation).toEqual({ via: "trpc", endpoint: "/trpc", transformer: "superjson" });
  const own = `transformer: { serialize: (x: unknown) => [x], deserialize: (x: any) => x[0] }`;
  const unknown = await shared().discover(trpcApp(body, { create: own }));
  expect(unknown).toEqual({
    procedures: [],
    problem: expect.stringContaining("data transformer other than superjson"),
  });
});

test("lazy routers are loaded, and subscriptions are left out", async () => {
  const { procedures } = await shared().discover(
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
});

test("a router is found where it is served, and one that is served nowhere is told of", async () => {
  const body = `const appRouter = t.router({ only: t.procedure.query(() => 1) });`;
  const below = await shared().discover(trpcApp(body, { endpoint: "/api/trpc" }));
  expect(below.procedures[0]?.invocation).toMatchObject({ endpoint: "/api/trpc" });
  const nowhere = await shared().discover(trpcApp(body, { endpoint: "/elsewhere" }));
  expect(nowhere).toEqual({ procedures: [], problem: expect.stringContaining("neither at /trpc nor at /api/trpc") });
});

test("an app that fails without its bindings still has its procedures, and what is assumed is told", async () => {
  const source = trpcApp(`const appRouter = t.router({ only: t.procedure.query(() => 1) });`).replace(
    "fetch: (req: Request) =>",
    "fetch: (req: Request, env: any) => env.DB.prepare('x') &&",
  );
  const { procedures, problem } = await shared().discover(source);
  expect(procedures.map(({ name, invocation }) => [name, invocation])).toEqual([
    ["only", { via: "trpc", endpoint: "/trpc", transformer: "none" }],
  ]);
  expect(problem).toContain("/trpc is assumed");
});

test("a validator that gives no JSON Schema leaves the input open, and that is told", async () => {
  const body = `const appRouter = t.router({ only: t.procedure.input((x: unknown) => String(x)).query(() => 1) });`;
  const { procedures, problem } = await shared().discover(trpcApp(body));
  expect(procedures[0]).toMatchObject({ name: "only", inputSchema: {} });
  expect(problem).toContain('"only"');
});
