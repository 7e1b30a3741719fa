import { describe, expect, test } from "vitest";
import { NoHandler } from "../../domain/ports/edge-platform.ts";
import { D1, type EdgePlatformHarness, KV, openWithSources, respondingWith } from "./edge-platform-harness.ts";

/** The contract of every edge platform about bindings, static files and network of scripts. */
export function edgePlatformFeaturesContract(driver: string, open: () => Promise<EdgePlatformHarness>): void {
  describe(`scripts on an edge platform (${driver})`, () => {
    test("a script can use its variables, modules and every kind of storage", async () => {
      await using h = await openWithSources(open);
      await h.publish(EVERYTHING, {
        bindings: EVERY_BINDING,
        modules: { "words.txt": { type: "text/plain", contents: "imported" } },
      });
      expect(JSON.parse((await h.request("shop")).text)).toEqual([
        "text",
        { deep: [1] },
        "imported",
        "kv",
        "r2",
        "object",
        42,
      ]);
    });

    test("a script with unsupported bindings is rejected with their products and names, and what is supported", async () => {
      await using h = await openWithSources(open);
      const publication = h.publish(respondingWith("hello"), {
        bindings: [
          { type: "hyperdrive", name: "POOL", id: "x" },
          { type: "ai", name: "AI" },
          { type: "unknown_kind", name: "OTHER" },
        ],
      });
      await expect(publication).rejects.toThrow(
        'The platform does not have Hyperdrive (binding "POOL"), Workers AI (binding "AI"), the type "unknown_kind" (binding "OTHER"). It has variables, D1, KV, R2,',
      );
    });

    test("a service worker has its bindings and the files that it imports as global variables", async () => {
      await using h = await openWithSources(open);
      h.variables.set("app-1", { OWN: "of the app" });
      await h.publish(
        `addEventListener("fetch", (event) => event.respondWith(respond()));
         const respond = async () => Response.json([EMPTY, OWN, TEXT, DATA.byteLength, await CACHE.get("x")]);`,
        {
          isServiceWorker: true,
          bindings: [
            { type: "plain_text", name: "EMPTY", text: "" },
            { type: "kv_namespace", name: "CACHE", namespace_id: "cache" },
            { type: "text_blob", name: "TEXT", part: "./words.txt" },
            { type: "data_blob", name: "DATA", part: "./data.bin" },
          ],
          modules: {
            "words.txt": { type: "text/plain", contents: "imported" },
            "data.bin": { type: "application/octet-stream", contents: "123" },
          },
        },
      );
      expect(JSON.parse((await h.request("shop")).text)).toEqual(["", "of the app", "imported", 3, null]);
    });

    test("a script without a handler, and a service worker with a SQL database, are rejected with what is missing", async () => {
      await using h = await openWithSources(open);
      const listener = 'addEventListener("fetch", (event) => event.respondWith(new Response()))';
      const database = [{ type: "d1", name: "DB", id: "x" }];
      for (const [script, message, options] of [
        ["module.exports = {}", "module.exports is not an export of a Worker", { isServiceWorker: true }],
        [listener, "cannot use the bindings DB", { isServiceWorker: true, bindings: database }],
        ['export default "text"', /is not a handler|exports no handler/, {}],
        ["export function fetch() { return new Response() }", "exports no handler", {}],
        ["export default { scheduled() {} }", "exports no handler", {}],
      ] as const) {
        const publication = h.publish(script, options);
        await expect(publication).rejects.toThrow(NoHandler);
        await expect(publication).rejects.toThrow(message);
      }
    });

    test("a compatibility date in the future counts as the newest supported date", async () => {
      await using h = await openWithSources(open);
      await h.publish(respondingWith("hello"), { compatibilityDate: "2999-12-31" });
      expect((await h.request("shop")).text).toBe("hello");
    });

    test("a single-page application serves its page at unknown paths", async () => {
      await using h = await openWithSources(open);
      await h.publish(NO_OP, {
        mainModule: "no-op-worker.js",
        files: SITE,
        rules: { not_found_handling: "single-page-application" },
      });
      expect([(await h.request("shop", "/any/path")).text, (await h.request("shop", "/about")).text]).toEqual([
        "home",
        "about",
      ]);
    });

    test("a site serves its 404 page at unknown paths, and follows its _redirects file", async () => {
      await using h = await openWithSources(open);
      const files = { ...SITE, _redirects: "/old /about 301\n" };
      await h.publish(NO_OP, { mainModule: "no-op-worker.js", files, rules: { not_found_handling: "404-page" } });
      expect(await h.request("shop", "/any/path")).toMatchObject({ status: 404, text: "lost" });
      expect((await h.request("shop", "/old")).status).toBe(301);
    });

    test("a script serves paths without a static file, and paths for which its rules put it first", async () => {
      await using h = await openWithSources(open);
      const script = `export default { fetch: (request, { ASSETS }) => new URL(request.url).pathname === "/api/home" ? ASSETS.fetch(new URL("/", request.url)) : new Response("script") }`;
      await h.publish(script, {
        bindings: [{ type: "assets", name: "ASSETS" }],
        files: { ...SITE, "api/file.html": "file" },
        rules: { run_worker_first: ["/api/*"] },
      });
      const targets = ["/about", "/unknown", "/api/file", "/api/home"];
      expect(await Promise.all(targets.map(async (target) => (await h.request("shop", target)).text))).toEqual([
        "about",
        "script",
        "script",
        "home",
      ]);
    });

    test("a script cannot reach this machine or its network", async () => {
      await using h = await openWithSources(open);
      const script = `export default { async fetch(request) {
        const target = new URL(request.url).searchParams.get("target") ?? "http://127.0.0.1/";
        return new Response(await fetch(target).then(() => "reached", () => "blocked"));
      } }`;
      await h.publish(script);
      const targets = [
        h.platform.urlOf("shop").replace("shop.localhost", "127.0.0.1"),
        "http://169.254.169.254/",
        "http://10.0.0.1/",
      ];
      const results = await Promise.all(
        targets.map(async (target) => (await h.request("shop", `/?target=${encodeURIComponent(target)}`)).text),
      );
      expect(results).toEqual(["blocked", "blocked", "blocked"]);
    });
  });
}

const NO_OP = `export default { fetch: () => new Response("Not found", { status: 404 }) }`;
const SITE = { "index.html": "home", "about.html": "about", "404.html": "lost" };

const EVERYTHING = `import { DurableObject } from "cloudflare:workers";
import words from "./words.txt";
export class Room extends DurableObject {
  async read() {
    this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS t(v)");
    await this.ctx.storage.put("v", "object");
    return this.ctx.storage.get("v");
  }
}
export default { async fetch(request, env) {
  await env.KV.put("v", "kv");
  await env.BUCKET.put("v", "r2");
  const stored = [await env.KV.get("v"), await (await env.BUCKET.get("v")).text(), await env.ROOM.get(env.ROOM.idFromName("one")).read()];
  return Response.json([env.TEXT, env.SETTINGS, words, ...stored, await env.DB.prepare("SELECT 42 AS v").first("v")]);
} }`;

const EVERY_BINDING = [
  { type: "plain_text", name: "TEXT", text: "text" },
  { type: "json", name: "SETTINGS", json: { deep: [1] } },
  { type: "r2_bucket", name: "BUCKET", bucket_name: "files" },
  { type: "durable_object_namespace", name: "ROOM", class_name: "Room" },
  KV,
  D1,
];
