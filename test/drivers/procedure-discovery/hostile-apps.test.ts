import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { DISCOVERY_CAPS } from "../../../domain/ports/procedure-discovery.ts";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

/** Offers no procedures, but passes the quick scan: the app is started. */
const WITHOUT_PROCEDURES = `export const _def = {}; export default { fetch: () => new Response("hello") };`;

/** An app with a hand-written router in the form that tRPC creates. `procedures` is an expression. */
function routerApp(procedures: string): string {
  return `
    const procedure = (definition) => Object.assign(() => 1, { _def: { type: "query", inputs: [], ...definition } });
    const schema = (json) => ({ "~standard": { jsonSchema: { input: () => json } } });
    export const appRouter = { _def: { router: true, procedures: ${procedures}, _config: {} } };
    export default {
      fetch: () => Response.json({ error: { code: -32004, message: "none" } }, { status: 404 }),
    };`;
}

test("an app that loops or hangs at start or in a request is abandoned, and the problem says why", async () => {
  for (const source of [
    `for (;;) {} ${WITHOUT_PROCEDURES}`,
    `export const _def = {}; export default { fetch() { for (;;) {} } };`,
    `export const _def = {}; export default { fetch: () => new Promise((resolve) => setTimeout(resolve, 600_000)) };`,
  ]) {
    const found = await shared().discover(source, { timeoutMs: 4000 });
    expect(found).toEqual({ procedures: [], problem: expect.stringContaining("could not be read") });
  }
});

test("an app that allocates or prints without end at start is stopped, and the problem says why", async () => {
  for (const endless of [
    `k.push(new Uint8Array(64e6).fill(1));`,
    `k.push(Array(1000).fill(k.length + 0.5));`,
    `console.log("x".repeat(10_000));`,
  ]) {
    const { procedures, problem } = await shared().discover(
      `const k = []; for (;;) { ${endless} } ${WITHOUT_PROCEDURES}`,
    );
    expect([procedures, problem]).toEqual([[], expect.stringMatching(/memory|allocation|prints/)]);
  }
});

test("the error of an app that throws at start is reported in quotation marks", async () => {
  const { procedures, problem } = await shared().discover(
    `throw new Error("no \\"DB\\"\\n[service] ready"); ${WITHOUT_PROCEDURES}`,
  );
  expect(procedures).toEqual([]);
  expect(problem).toContain("does not start in a test run");
  expect(problem).not.toContain("\n");
  expect(problem).toMatch(/It reported ".*no \\"DB\\".*"$/);
});

test("an app that does not start keeps the operations of the document in its repository", async () => {
  const document = { openapi: "3.1.0", paths: { "/a": { get: { operationId: "readA" } } } };
  const { procedures } = await shared().discover(`throw new Error("no"); ${WITHOUT_PROCEDURES}`, {
    files: { "openapi.json": JSON.stringify(document) },
  });
  expect(procedures.map(({ name }) => name)).toEqual(["readA"]);
});

test("only the first 2,000 of 10,000 procedures are offered, and the problem says so", async () => {
  const { procedures, problem } = await shared().discover(
    routerApp(`Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => ["p" + i, procedure({})]))`),
  );
  expect([procedures.length, procedures.at(-1)?.name]).toEqual([DISCOVERY_CAPS.procedures, "p1999"]);
  expect(problem).toContain("Only the first 2000 of 10000");
});

test("a procedure whose schema is too large, too deep or circular is left out, and the others are kept", async () => {
  const { procedures, problem } = await shared().discover(
    routerApp(`{
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

test("procedures whose schemas exceed the total size are left out", async () => {
  const { procedures, problem } = await shared().discover(
    routerApp(`Object.fromEntries(Array.from({ length: 200 }, (_, i) =>
      ["p" + i, procedure({ inputs: [schema({ description: "x".repeat(60_000) })] })]))`),
  );
  const stored = procedures.reduce((sum, { inputSchema }) => sum + JSON.stringify(inputSchema).length, 0);
  expect(procedures.length).toBeGreaterThan(50);
  expect(stored).toBeLessThanOrEqual(DISCOVERY_CAPS.totalBytes);
  expect(problem).toContain("larger than 8 MiB together");
});

test("procedures with reserved names of JavaScript are left out and reported, and other invalid names are replaced", async () => {
  const { procedures, problem } = await shared().discover(
    routerApp(`Object.assign(JSON.parse('{"__proto__": null}'), {
      ok: procedure({}), "ok.deep-1": procedure({}), constructor: procedure({}), "a.__proto__.b": procedure({}),
      toString: procedure({}), prototype: procedure({}), then: procedure({}), "a..b": procedure({}), "": procedure({}),
      "a b": procedure({}), "../x": procedure({}), "ünï": procedure({}), ["x".repeat(300)]: procedure({}),
    })`),
  );
  expect(procedures.map(({ name }) => name)).toEqual(["ok", "ok.deep-1", "a.b", "procedure", "a_b", "x", "uni"]);
  expect(problem).toContain('"a.__proto__.b"');
  expect(problem).toContain('"constructor"');
});

test("text is shortened and made storable", async () => {
  const { procedures } = await shared().discover(
    routerApp(`{
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

test("a forged introspection report is validated", async () => {
  const forgeReport = (body: string) =>
    `Response.json = () => new Response(${body}); ${routerApp("{ a: procedure({}) }")}`;
  for (const body of [
    `"null"`,
    `"{"`,
    `JSON.stringify({ found: true, total: 1, transformer: "none", procedures: [{ name: "a", kind: "shell" }] })`,
    `new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(1_000_000)) })`,
  ]) {
    const { procedures, problem } = await shared().discover(forgeReport(body), { timeoutMs: 20_000 });
    expect([procedures, typeof problem]).toEqual([[], "string"]);
  }
});

test("an app under inspection reaches no network and has no bindings", async () => {
  const connections: string[] = [];
  const server = http.createServer((request, response) => void response.end(connections.push(request.url ?? "")));
  server.on("connection", () => void connections.push("connection"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const { procedures } = await shared().discover(`
    import { connect } from "cloudflare:sockets";
    import { env } from "cloudflare:workers";
    const attempt = async (work) => { try { return await work(); } catch { return "refused"; } };
    export const appRouter = { _def: { router: true, procedures: {}, _config: {}, lazy: { x: { async load() {
      const results = await Promise.all([
        attempt(async () => "status " + (await fetch("http://127.0.0.1:${port}/fetched")).status),
        attempt(async () => (await connect("127.0.0.1:${port}").opened, "connected")),
        attempt(async () => "status " + (await fetch("http://169.254.169.254/")).status),
      ]);
      const description = JSON.stringify([...results, Object.keys(env)]);
      appRouter._def.procedures.report = { _def: { type: "query", meta: { description } } };
      appRouter._def.lazy = {};
    } } } } };
    export default { fetch: () => Response.json({ error: { code: -32004 } }) };`);
  await new Promise((resolve) => server.close(resolve));
  expect(procedures.map(({ description }) => description)).toEqual([
    expect.not.stringMatching(/connected|status [1-4]/),
  ]);
  expect(procedures[0]?.description).toMatch(/\[\]\]$/);
  expect(connections).toEqual([]);
});

test("an abort ends the discovery with its reason instead of a problem", async () => {
  const signal = AbortSignal.timeout(1500);
  await expect(shared().discover(`for (;;) {} ${WITHOUT_PROCEDURES}`, { signal })).rejects.toThrow("aborted");
});
