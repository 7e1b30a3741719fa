import type { CallableApp } from "./callable-app.ts";

const PACKAGES = { "@trpc/server": "11.4.3", zod: "4.0.5", superjson: "2.2.2" };

/** An app with a tRPC router. */
function trpcApp(procedures: string, options = ""): Record<string, string> {
  return {
    "package.json": JSON.stringify({ type: "module", main: "index.js", dependencies: PACKAGES }),
    "index.js": `
      import { initTRPC } from "@trpc/server";
      import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
      import superjson from "superjson";
      import { z } from "zod";
      const t = initTRPC.create({ ${options} });
      const read = (input) => t.procedure.input(input);
      export const appRouter = t.router({ ${procedures} });
      export default {
        fetch: (req) => fetchRequestHandler({ endpoint: "/trpc", req, router: appRouter, createContext: () => ({}) }),
      };`,
  };
}

const AT = "2026-12-24T12:00:00.000Z";

/** The same router in a Node server. `serve` listens on a port. */
function trpcServer(imports: string, serve: string, packages: Record<string, string> = {}): Record<string, string> {
  const dependencies = { ...PACKAGES, ...packages };
  return {
    "package.json": JSON.stringify({ type: "module", scripts: { start: "node server.js" }, dependencies }),
    "server.js": `
      import { initTRPC } from "@trpc/server";
      import superjson from "superjson";
      import { z } from "zod";
      ${imports}
      const t = initTRPC.create({ transformer: superjson });
      const router = t.router({
        greet: t.procedure.input(z.string()).query(({ input }) => "hi " + input),
        notes: t.router({
          add: t.procedure.input(z.object({ at: z.date(), tags: z.set(z.string()) })).mutation(({ input }) => ({
            year: input.at.getFullYear(), tags: input.tags.size })),
        }),
        ping: t.procedure.query(({ ctx }) => "pong" + (ctx?.app ?? "")),
      });
      ${serve}`,
  };
}

const SERVER_CALLS = (pong: string): CallableApp["calls"] => [
  { procedure: "greet", input: `"you"`, args: { input: "you" }, output: "hi you" },
  {
    procedure: "notes.add",
    input: `{ at: new Date("${AT}"), tags: new Set(["a", "b"]) }`,
    args: { at: AT, tags: ["a", "b"] },
    output: { year: 2026, tags: 2 },
  },
  { procedure: "ping", input: "", args: {}, output: pong },
];

export const TRPC_APPS: CallableApp[] = [
  {
    what: "a Node server that mounts a tRPC router in a router of Express",
    name: "trpc-express",
    files: trpcServer(
      `import express from "express";
      import { createExpressMiddleware } from "@trpc/server/adapters/express";`,
      `const api = express.Router();
      const createContext = ({ req }) => ({ app: req.headers["x-service-auth"] });
      api.use("/rpc", createExpressMiddleware({ router, createContext }));
      express().use("/v2", api).listen(process.env.PORT);`,
      { express: "5.1.0" },
    ),
    calls: SERVER_CALLS("pongapp"),
  },
  {
    what: "a Node server that is a tRPC router alone",
    name: "trpc-standalone",
    files: trpcServer(
      `import { createHTTPServer } from "@trpc/server/adapters/standalone";`,
      `createHTTPServer({ router }).listen(Number(process.env.PORT));`,
    ),
    calls: SERVER_CALLS("pong"),
  },
  {
    what: "tRPC inputs that are not objects",
    name: "trpc-scalars",
    files: trpcApp(`
      userById: read(z.string()).query(({ input }) => ({ id: input })),
      sum: read(z.array(z.number())).query(({ input }) => input.reduce((sum, each) => sum + each, 0)),
      either: read(z.union([z.string(), z.object({ id: z.number() })])).query(({ input }) => typeof input),
      flip: read(z.boolean()).mutation(({ input }) => !input),
      kind: read(z.enum(["a", "b"]).nullable()).query(({ input }) => input),`),
    calls: [
      { procedure: "userById", input: `"u1"`, args: { input: "u1" }, output: { id: "u1" } },
      { procedure: "sum", input: "[1, 2, 3]", args: { input: [1, 2, 3] }, output: 6 },
      { procedure: "either", input: "{ id: 7 }", args: { input: { id: 7 } }, output: "object" },
      { procedure: "either", input: `"text"`, args: { input: "text" }, output: "string" },
      { procedure: "flip", input: "true", args: { input: true }, output: false },
      { procedure: "kind", input: "null", args: { input: null }, output: null },
    ],
  },
  {
    what: "tRPC inputs that can be left out",
    name: "trpc-optional",
    files: trpcApp(`
      hello: read(z.object({ text: z.string() }).optional()).query(({ input }) => input?.text ?? "world"),
      page: read(z.number().default(7)).query(({ input }) => input),
      ping: read(z.void()).query(() => "pong"),
      touch: read(z.object({ by: z.string() }).optional()).mutation(({ input }) => input?.by ?? "nobody"),
      none: t.procedure.mutation(() => "done"),`),
    calls: [
      { procedure: "hello", input: "", args: {}, output: "world" },
      { procedure: "hello", input: `{ text: "you" }`, args: { text: "you" }, output: "you" },
      { procedure: "page", input: "", args: {}, output: 7 },
      { procedure: "page", input: "9", args: { input: 9 }, output: 9 },
      { procedure: "ping", input: "", args: {}, output: "pong" },
      { procedure: "touch", input: "", args: {}, output: "nobody" },
      { procedure: "none", input: "", args: {}, output: "done" },
    ],
  },
  {
    what: "superjson, and inputs and outputs that JSON does not have",
    name: "trpc-superjson",
    files: trpcApp(
      `
      at: read(z.object({ when: z.date(), later: z.array(z.date()).optional() })).query(({ input }) => [
        input.when instanceof Date && input.when.getTime(), ...(input.later ?? []).map((date) => date.getTime()),
      ]),
      tomorrow: read(z.date()).query(({ input }) => new Date(input.getTime() + 86_400_000)),
      big: read(z.object({ value: z.bigint() })).query(({ input }) => input.value * 2n),
      tags: read(z.object({ tags: z.set(z.string()) })).mutation(({ input }) => new Set([...input.tags, input.tags.size])),
      ages: read(z.map(z.string(), z.object({ born: z.date() }))).query(({ input }) =>
        new Map([...input].map(([name, { born }]) => [name, born.getUTCFullYear()]))),`,
      "transformer: superjson",
    ),
    calls: [
      {
        procedure: "at",
        input: `{ when: new Date(${Date.parse(AT)}), later: [new Date(5)] }`,
        args: { when: AT, later: ["1970-01-01T00:00:00.005Z"] },
        output: [Date.parse(AT), 5],
      },
      { procedure: "tomorrow", input: `new Date("${AT}")`, args: { input: AT }, output: "2026-12-25T12:00:00.000Z" },
      {
        procedure: "big",
        input: "{ value: 2n ** 70n }",
        args: { value: String(2n ** 70n) },
        output: String(2n ** 71n),
      },
      { procedure: "tags", input: `{ tags: new Set(["a", "b"]) }`, args: { tags: ["a", "b"] }, output: ["a", "b", 2] },
      {
        procedure: "ages",
        input: `new Map([["ada", { born: new Date("${AT}") }]])`,
        args: { input: [["ada", { born: AT }]] },
        output: [["ada", 2026]],
      },
    ],
  },
  {
    what: "unions, intersections, records, names that are no property names of every API, and a described output",
    name: "trpc-shapes",
    files: trpcApp(`
      area: read(z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("circle"), radius: z.number() }),
        z.object({ kind: z.literal("square"), "side (cm)": z.number() }),
      ])).query(({ input }) => (input.kind === "circle" ? input.radius : input["side (cm)"])),
      both: read(z.object({ a: z.string() }).and(z.object({ b: z.number() }))).query(({ input }) => input),
      scores: read(z.record(z.string(), z.number())).query(({ input }) => Object.keys(input).length),
      "größe": read(z.object({ $top: z.number(), named: z.object({ "a b": z.string() }) })).query(({ input }) => input),
      parsed: t.procedure.output(z.object({ at: z.coerce.date() })).query(() => ({ at: new Date("${AT}") })),`),
    calls: [
      { procedure: "area", input: `{ kind: "circle", radius: 2 }`, args: { kind: "circle", radius: 2 }, output: 2 },
      {
        procedure: "area",
        input: `{ kind: "square", "side (cm)": 3 }`,
        args: { kind: "square", side_cm: 3 },
        output: 3,
      },
      { procedure: "both", input: `{ a: "x", b: 1 }`, args: { a: "x", b: 1 }, output: { a: "x", b: 1 } },
      { procedure: "scores", input: "{ x: 1, y: 2 }", args: { x: 1, y: 2 }, output: 2 },
      {
        procedure: "grosse",
        input: `{ $top: 1, named: { "a b": "c" } }`,
        args: { top: 1, named: { a_b: "c" } },
        output: { $top: 1, named: { "a b": "c" } },
      },
      { procedure: "parsed", input: "", args: {}, output: { at: AT } },
    ],
  },
  {
    what: "dates without superjson, of which the app converts one itself, and a subscription",
    name: "trpc-dates",
    files: trpcApp(`
      coerced: read(z.object({ at: z.coerce.date() })).query(({ input }) => input.at.getTime()),
      impossible: read(z.object({ at: z.date() })).query(() => 1),
      live: t.procedure.subscription(async function* () { yield 1; }),`),
    statusMessage:
      'The app is live. Left out because their input contains a Date, bigint, Set or Map, which cannot be sent without the transformer superjson: "impossible". Left out because they are subscriptions, which have no end: "live".',
    calls: [
      { procedure: "coerced", input: `{ at: new Date(5) }`, args: { at: "1970-01-01T00:00:00.005Z" }, output: 5 },
      { procedure: "coerced", input: `{ at: "${AT}" }`, args: { at: AT }, output: Date.parse(AT) },
    ],
  },
];
