import { readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { Bundler } from "../../domain/ports/bundler.ts";
import { bundleFailure, createCheckout, runBundler } from "../support/builds/bundle-checkout.ts";
import { readUploadForm } from "../support/builds/read-upload-form.ts";
import { scriptPathOf } from "../support/builds/script-path.ts";

const FUNCTION = `export const onRequestGet: PagesFunction = ({ env }) => new Response("hello");`;
const pagesConfig = (settings: object = {}) =>
  JSON.stringify({ name: "app", pages_build_output_dir: "./public", compatibility_date: "2026-06-01", ...settings });

/** Projects for Cloudflare Pages. */
export function pagesContract(bundler: Bundler): void {
  describe("a Pages project", () => {
    test.each([
      ["wrangler.jsonc", `{ // Pages\n "name": "app", "pages_build_output_dir": "public", "vars": { "A": "1" } }`],
      ["wrangler.toml", `name = "app"\npages_build_output_dir = "./public"\n[vars]\nA = "1"\n`],
      ["wrangler.json", pagesConfig({ vars: { A: "2" }, env: { production: { vars: { A: "1" } } } })],
    ])("functions and static files are bundled with the production settings of %s", async (name, config) => {
      await using checkout = await createCheckout({
        [name]: config,
        "functions/api/hello.ts": FUNCTION,
        "public/index.html": "page",
        "public/_headers": "/*\n  x-own: 1\n",
      });
      const { bundle } = await runBundler(bundler, checkout);
      const { metadata, modules } = await readUploadForm(scriptPathOf(bundle));
      expect(metadata.bindings).toEqual([
        { name: "A", type: "plain_text", text: "1" },
        { name: "ASSETS", type: "assets" },
      ]);
      expect(metadata.compatibility_date).toMatch(/^2026-0[67]-01$/);
      expect(Object.values(modules).join("\n")).toContain(`"include":["/api/hello"],"exclude":[]`);
      expect(bundle.assets?.rules).toEqual({ not_found_handling: "single-page-application", run_worker_first: true });
      expect((await readdir(bundle.assets?.directory ?? "")).toSorted()).toEqual(["_headers", "index.html"]);
    });

    test("functions beside a static build are bundled without a wrangler configuration", async () => {
      await using checkout = await createCheckout({
        "package.json": JSON.stringify({ scripts: { build: "mkdir dist && echo page >dist/index.html" } }),
        "functions/index.js": `import { Buffer } from "node:buffer"; export function onRequest() { return new Response(Buffer.from("a")); }`,
      });
      const { bundle } = await runBundler(bundler, checkout);
      const { metadata } = await readUploadForm(scriptPathOf(bundle));
      expect(metadata).toMatchObject({ compatibility_date: "2026-07-01", compatibility_flags: ["nodejs_compat"] });
      expect(await readdir(bundle.assets?.directory ?? "")).toEqual(["index.html"]);
    });

    test("functions have the bindings and migrations of a configuration that names no output folder", async () => {
      const database = `[[d1_databases]]\nbinding = "DB"\ndatabase_id = "app"\nmigrations_dir = "db"\n`;
      await using checkout = await createCheckout({
        "wrangler.toml": `name = "app"\naccount_id = "1"\n${database}`,
        "functions/[[path]].js": FUNCTION.replace(": PagesFunction", ""),
        "db/0001_a.sql": "SELECT 1",
      });
      const { bundle } = await runBundler(bundler, checkout);
      const { metadata } = await readUploadForm(scriptPathOf(bundle));
      expect(metadata.bindings).toContainEqual({ name: "DB", type: "d1", id: "app" });
      expect(bundle.migrations).toMatchObject([{ name: "0001_a.sql" }]);
      expect(await readdir(bundle.assets?.directory ?? "")).toEqual([]);
    });

    test.each([
      ["a file", { "_worker.js": `export default { fetch: () => new Response("hello") };` }],
      [
        "a folder",
        {
          "_worker.js/index.js": `import text from "./chunks/text.js"; export default { fetch: () => new Response(text) };`,
          "_worker.js/chunks/text.js": `export default "hello";`,
        },
      ],
    ])("_worker.js as %s becomes the script, with the rules of _routes.json", async (_case, files) => {
      const outputs = Object.entries({ ...files, "_routes.json": `{"version":1,"include":["/api/*"],"exclude":[]}` });
      await using checkout = await createCheckout({
        "dist/404.html": "nothing",
        ...Object.fromEntries(outputs.map(([name, text]) => [`dist/${name}`, text])),
      });
      const { bundle } = await runBundler(bundler, checkout);
      const modules = Object.values((await readUploadForm(scriptPathOf(bundle))).modules).join("\n");
      expect(modules).toContain(`"hello"`);
      expect(modules).toContain(`"include":["/api/*"]`);
      expect(bundle.assets?.rules).toEqual({ not_found_handling: "404-page", run_worker_first: true });
      expect(await readdir(bundle.assets?.directory ?? "")).toEqual(["404.html"]);
    });

    test("a folder named functions without handlers is not bundled", async () => {
      await using checkout = await createCheckout({
        "wrangler.json": pagesConfig(),
        "functions/index.js": `const { onRequest } = require("firebase-functions"); exports.api = onRequest(() => {});`,
        "public/index.html": "page",
      });
      const { bundle } = await runBundler(bundler, checkout);
      expect(bundle.assets?.rules).toEqual({ not_found_handling: "single-page-application" });
      expect((await readUploadForm(scriptPathOf(bundle))).metadata.main_module).toBe("no-op-worker.js");
    });

    test.each([
      ["is not JSON", "{", "_routes.json is not valid JSON."],
      [
        "has no rules",
        `{"include":[]}`,
        `_routes.json must have the lists "include" and "exclude" of paths that start with "/".`,
      ],
    ])("a _routes.json that %s is refused", async (_case, routes, message) => {
      const failure = await bundleFailure(bundler, {
        "wrangler.json": pagesConfig(),
        "functions/a.js": "export const onRequest = () => new Response();",
        "public/_routes.json": routes,
      });
      expect(failure).toMatchObject({ kind: "user", message });
    });

    test("a missing output folder is refused, and the failure names its setting", async () => {
      const failure = await bundleFailure(bundler, {
        "wrangler.json": pagesConfig(),
        "functions/a.js": "export const onRequest = () => new Response();",
      });
      expect(failure).toMatchObject({
        kind: "user",
        message: 'The build wrote no folder "public", which pages_build_output_dir names.',
      });
    });

    test("an import that a function cannot resolve is reported with its name and location", async () => {
      const failure = await bundleFailure(bundler, {
        "wrangler.json": pagesConfig(),
        "functions/a.js": `import "nowhere";\nexport const onRequest = () => new Response();`,
        "public/index.html": "page",
      });
      expect(failure.message).toBe('The app could not be bundled: Could not resolve "nowhere" (a.js:1:7)');
    });
  });
}
