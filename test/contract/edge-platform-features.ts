import { describe, expect, test } from "vitest";
import { answering, D1, type EdgePlatformHarness, given, KV } from "./edge-platform-harness.ts";

/** What scripts can have on every edge platform. */
export function edgePlatformFeaturesContract(driver: string, open: () => Promise<EdgePlatformHarness>): void {
  describe(`scripts on an edge platform (${driver})`, () => {
    test("variables, modules and every kind of storage reach the script", async () => {
      await using h = await given(open);
      await h.publish(EVERYTHING, {
        bindings: EVERY_BINDING,
        modules: { "words.txt": { type: "text/plain", contents: "imported" } },
      });
      expect(JSON.parse((await h.visit("shop")).text)).toEqual([
        "text",
        { deep: [1] },
        "imported",
        "kv",
        "r2",
        "object",
        42,
      ]);
    });

    test("a binding that apps cannot have is refused by name, with those they can", async () => {
      await using h = await given(open);
      const refused = h.publish(answering("hello"), { bindings: [{ type: "hyperdrive", name: "POOL", id: "x" }] });
      await expect(refused).rejects.toThrow(/"POOL".*"hyperdrive".*kv_namespace/s);
    });

    test("a compatibility date from the future is taken as today", async () => {
      await using h = await given(open);
      await h.publish(answering("hello"), { compatibilityDate: "2999-12-31" });
      expect((await h.visit("shop")).text).toBe("hello");
    });

    test("a single-page application answers unknown paths with its page", async () => {
      await using h = await given(open);
      await h.publish(NO_OP, {
        mainModule: "no-op-worker.js",
        files: SITE,
        rules: { not_found_handling: "single-page-application" },
      });
      expect([(await h.visit("shop", "/any/path")).text, (await h.visit("shop", "/about")).text]).toEqual([
        "home",
        "about",
      ]);
    });

    test("a site answers unknown paths with its 404 page, and obeys its _redirects", async () => {
      await using h = await given(open);
      const files = { ...SITE, _redirects: "/old /about 301\n" };
      await h.publish(NO_OP, { mainModule: "no-op-worker.js", files, rules: { not_found_handling: "404-page" } });
      expect(await h.visit("shop", "/any/path")).toMatchObject({ status: 404, text: "lost" });
      expect((await h.visit("shop", "/old")).status).toBe(301);
    });

    test("a script answers what its static files do not, and comes first where they say so", async () => {
      await using h = await given(open);
      const script = `export default { fetch: (request, { ASSETS }) => new URL(request.url).pathname === "/api/home" ? ASSETS.fetch(new URL("/", request.url)) : new Response("script") }`;
      await h.publish(script, {
        bindings: [{ type: "assets", name: "ASSETS" }],
        files: { ...SITE, "api/file.html": "file" },
        rules: { run_worker_first: ["/api/*"] },
      });
      const targets = ["/about", "/unknown", "/api/file", "/api/home"];
      expect(await Promise.all(targets.map(async (target) => (await h.visit("shop", target)).text))).toEqual([
        "about",
        "script",
        "script",
        "home",
      ]);
    });

    test("a script reaches neither this machine nor its network", async () => {
      await using h = await given(open);
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
      const answers = await Promise.all(
        targets.map(async (target) => (await h.visit("shop", `/?target=${encodeURIComponent(target)}`)).text),
      );
      expect(answers).toEqual(["blocked", "blocked", "blocked"]);
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
