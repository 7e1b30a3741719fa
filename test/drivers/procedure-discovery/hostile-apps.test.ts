import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { DISCOVERY_CAPS } from "../../../domain/ports/procedure-discovery.ts";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

/** Offers nothing, but looks as if it could: a script that cannot is not even started. */
const NONE = `export const _def = {}; export default { fetch: () => new Response("hello") };`;

/** A router made by hand, as it would come out of tRPC; `procedures` is an expression. */
function routerOf(procedures: string): string {
  return `
    const procedure = (definition) => Object.assign(() => 1, { _def: { type: "query", inputs: [], ...definition } });
    const schema = (json) => ({ "~standard": { jsonSchema: { input: () => json } } });
    export const appRouter = { _def: { router: true, procedures: ${procedures}, _config: {} } };
    export default {
      fetch: () => Response.json({ error: { code: -32004, message: "none" } }, { status: 404 }),
    };`;
}

test("an app that loops while it starts, or at any request, is given up, and that is told", async () => {
  for (const source of [
    `for (;;) {} ${NONE}`,
    `export const _def = {}; export default { fetch() { for (;;) {} } };`,
    `export const _def = {}; export default { fetch: () => new Promise((resolve) => setTimeout(resolve, 600_000)) };`,
  ]) {
    const found = await shared().discover(source, { timeoutMs: 4000 });
    expect(found).toEqual({ procedures: [], problem: expect.stringContaining("could not be looked for") });
  }
});

test("an app that takes memory or prints without end while it starts is stopped, and that is told", async () => {
  for (const endless of [
    `k.push(new Uint8Array(64e6).fill(1));`,
    `k.push({ a: [k.length] });`,
    `console.log("x".repeat(10_000));`,
  ]) {
    const { procedures, problem } = await shared().discover(`const k = []; for (;;) { ${endless} } ${NONE}`);
    expect([procedures, problem]).toEqual([[], expect.stringMatching(/memory|allocation|prints/)]);
  }
});

test("an app that throws while it starts has its own words quoted", async () => {
  const { procedures, problem } = await shared().discover(`throw new Error("no \\"DB\\"\\n[service] ready"); ${NONE}`);
  expect(procedures).toEqual([]);
  expect(problem).toContain("does not start on its own");
  expect(problem).not.toContain("\n");
  expect(problem).toMatch(/It reported ".*no \\"DB\\".*"$/);
});

test("an app that does not start still has the operations of the document in its repository", async () => {
  const document = { openapi: "3.1.0", paths: { "/a": { get: { operationId: "readA" } } } };
  const { procedures } = await shared().discover(`throw new Error("no"); ${NONE}`, {
    files: { "openapi.json": JSON.stringify(document) },
  });
  expect(procedures.map(({ name }) => name)).toEqual(["readA"]);
});

test("ten thousand procedures are cut to the first five hundred, and that is told", async () => {
  const { procedures, problem } = await shared().discover(
    routerOf(`Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => ["p" + i, procedure({})]))`),
  );
  expect([procedures.length, procedures.at(-1)?.name]).toEqual([DISCOVERY_CAPS.procedures, "p499"]);
  expect(problem).toContain("Only the first 500 of 10000");
});

test("a gigantic or bottomless schema costs its procedure, and no other one", async () => {
  const { procedures, problem } = await shared().discover(
    routerOf(`{
      small: procedure({ inputs: [schema({ type: "object" })] }),
      large: procedure({ inputs: [schema({ description: "x".repeat(50_000_000) })] }),
      larger: procedure({ inputs: [schema({ description: "x".repeat(70_000) })] }),
      deep: procedure({ inputs: [schema(Array.from({ length: 3000 }).reduce((inner) => ({ not: inner }), {}))] }),
      circular: procedure({ inputs: [schema((() => { const it = {}; it.not = it; return it; })())] }),
      output: procedure({ output: { "~standard": { jsonSchema: { output: () => ({ a: "x".repeat(70_000) }) } } } }),
    }`),
  );
  const found = procedures.map(({ name, outputSchema }) => [name, outputSchema]);
  expect(found).toEqual(
    expect.arrayContaining([
      ["small", null],
      ["output", null],
    ]),
  );
  for (const name of ["large", "larger", "deep", "circular"]) {
    expect(procedures.map((procedure) => procedure.name)).not.toContain(name);
    expect(problem).toContain(`"${name}"`);
  }
});

test("schemas that are too large together cost the procedures for which there is no room", async () => {
  const { procedures, problem } = await shared().discover(
    routerOf(`Object.fromEntries(Array.from({ length: 100 }, (_, i) =>
      ["p" + i, procedure({ inputs: [schema({ description: "x".repeat(60_000) })] })]))`),
  );
  const stored = procedures.reduce((sum, { inputSchema }) => sum + JSON.stringify(inputSchema).length, 0);
  expect(procedures.length).toBeGreaterThan(50);
  expect(stored).toBeLessThanOrEqual(DISCOVERY_CAPS.totalBytes);
  expect(problem).toContain("larger than 4 MiB together");
});

test("names that mean something to JavaScript, or are no names, are left out and told", async () => {
  const { procedures, problem } = await shared().discover(
    routerOf(`Object.assign(JSON.parse('{"__proto__": null}'), {
      ok: procedure({}), "ok.deep-1": procedure({}), constructor: procedure({}), "a.__proto__.b": procedure({}),
      toString: procedure({}), prototype: procedure({}), then: procedure({}), "a..b": procedure({}), "": procedure({}),
      "a b": procedure({}), "../x": procedure({}), "ünï": procedure({}), ["x".repeat(300)]: procedure({}),
    })`),
  );
  expect(procedures.map(({ name }) => name)).toEqual(["ok", "ok.deep-1"]);
  expect(problem).toContain('"constructor"');
});

test("text that no database takes, or that is endless, is made fit", async () => {
  const { procedures } = await shared().discover(
    routerOf(`{
      a: procedure({
        meta: { description: "a\\0b\\ud800c" + "x".repeat(10_000) },
        inputs: [schema({ title: "\\0\\udfff", "k\\0": 1, $id: "http://elsewhere.example", $ref: "http://elsewhere.example" })],
      }),
    }`),
  );
  expect(procedures[0]?.description).toMatch(/^ab\ufffdcx+$/);
  expect(procedures[0]?.description.length).toBe(DISCOVERY_CAPS.descriptionCharacters);
  expect(procedures[0]?.inputSchema).toEqual({ title: "\ufffd", k: 1 });
});

test("an app that answers for the introspection says nothing that is believed unread", async () => {
  const lying = (answer: string) =>
    `Response.json = () => new Response(${answer}); ${routerOf("{ a: procedure({}) }")}`;
  for (const answer of [
    `"null"`,
    `"{"`,
    `JSON.stringify({ found: true, total: 1, transformer: "none", procedures: [{ name: "a", kind: "shell" }] })`,
    `new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(1_000_000)) })`,
  ]) {
    const { procedures, problem } = await shared().discover(lying(answer), { timeoutMs: 20_000 });
    expect([procedures, typeof problem]).toEqual([[], "string"]);
  }
});

test("an app that is looked at reaches no network and sees no bindings", async () => {
  const seen: string[] = [];
  const server = http.createServer((request, response) => void response.end(seen.push(request.url ?? "")));
  server.on("connection", () => void seen.push("connection"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const { procedures } = await shared().discover(`
    import { connect } from "cloudflare:sockets";
    import { env } from "cloudflare:workers";
    const attempt = async (work) => { try { return await work(); } catch { return "refused"; } };
    export const appRouter = { _def: { router: true, procedures: {}, _config: {}, lazy: { x: { async load() {
      const tried = await Promise.all([
        attempt(async () => "status " + (await fetch("http://127.0.0.1:${port}/fetched")).status),
        attempt(async () => (await connect("127.0.0.1:${port}").opened, "connected")),
        attempt(async () => "status " + (await fetch("http://169.254.169.254/")).status),
      ]);
      const description = JSON.stringify([...tried, Object.keys(env)]);
      appRouter._def.procedures.tell = { _def: { type: "query", meta: { description } } };
      appRouter._def.lazy = {};
    } } } } };
    export default { fetch: () => Response.json({ error: { code: -32004 } }) };`);
  await new Promise((resolve) => server.close(resolve));
  expect(procedures.map(({ description }) => description)).toEqual([
    expect.not.stringMatching(/connected|status [1-4]/),
  ]);
  expect(procedures[0]?.description).toMatch(/\[\]\]$/);
  expect(seen).toEqual([]);
});

test("an abort ends the looking, and is no problem of the app", async () => {
  const signal = AbortSignal.timeout(1500);
  await expect(shared().discover(`for (;;) {} ${NONE}`, { signal })).rejects.toThrow("aborted");
});
