import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import type { BundleRequest } from "../../../domain/ports/bundler.ts";
import { bundleFailure, type Content, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";
import { readUploadForm } from "../../support/builds/read-upload-form.ts";
import { scriptPathOf } from "../../support/builds/script-path.ts";

const bundler = createTestBundler({}, tmpdir());

/** Wrangler reads variables with this prefix, but not this one. */
const UNKNOWN_VARIABLE = { CLOUDFLARE_UNKNOWN: "1" };

const PUBLIC = { "public/index.html": "<h1>hello</h1>", "public/css/style.css": "h1 {}" };
const BUILD = "mkdir -p dist/css && echo '<h1>built</h1>' >dist/index.html && touch dist/css/style.css dist/404.html";

test.each<[string, Record<string, Content>]>([
  ["pages at the root", { "index.html": "<h1>hello</h1>", "package.json": "{}", ".env": "VITE_NAME=1\n" }],
  [
    "pages with rules and ignored files",
    {
      ...PUBLIC,
      "public/a.map": "map",
      "public/.assetsignore": "*.map\n",
      "public/_headers": "/*\n  x-frame-options: DENY\n",
      "public/_redirects": "/old / 301\n",
    },
  ],
  ["pages that a build wrote", { "package.json": JSON.stringify({ scripts: { build: BUILD } }) }],
])("the bundle and the build log are the same with and without wrangler: %s", async (_case, files) => {
  const own = await bundleFiles(files);
  const wranglers = await bundleFiles(files, { variables: UNKNOWN_VARIABLE });
  expect([own.ranWrangler, wranglers.ranWrangler]).toEqual([false, true]);
  expect(own.bundle).toEqual(wranglers.bundle);
  expect(own.files).toEqual(wranglers.files);
  expect(own.metadata).toEqual(wranglers.metadata);
  expect(own.log).toEqual(wranglers.log);
});

test("the script of a site responds as the one that wrangler bundles", async () => {
  const [own, wranglers] = [await bundleFiles(PUBLIC), await bundleFiles(PUBLIC, { variables: UNKNOWN_VARIABLE })];
  const responses = [];
  for (const { script } of [own, wranglers]) {
    const module = (await import(`data:text/javascript,${encodeURIComponent(script)}`)) as {
      default: { fetch(): Response };
    };
    const response = module.default.fetch();
    responses.push([response.status, response.headers.get("content-type"), await response.text()]);
  }
  expect(responses).toEqual([
    [404, "text/html", "Not found"],
    [404, "text/html", "Not found"],
  ]);
});

test.each<[string, Record<string, Content>, Partial<BundleRequest>]>([
  ["a configuration", { ...PUBLIC, "wrangler.json": `{ "compatibility_date": "2026-06-01" }` }, {}],
  [
    "a configuration in a folder above",
    { "web/index.html": "hello", "wrangler.toml": `compatibility_date = "2026-06-01"\n` },
    { rootDirectory: "web" },
  ],
  ["a variable of the app", PUBLIC, { variables: { WRANGLER_LOG: "log" } }],
  ["a variable in a file", { ...PUBLIC, ".env.local": "A=1\nCLOUDFLARE_ENV=\n" }, {}],
  ["a link among the static files", { ...PUBLIC, "public/own.html": { link: "index.html" } }, {}],
])("wrangler bundles static files with %s", async (_case, files, options) => {
  expect((await bundleFiles(files, options)).ranWrangler).toBe(true);
});

test("a warning of wrangler about the variables of a site is in the build log", async () => {
  const { log } = await bundleFiles(PUBLIC, { variables: { CLOUDFLARE_ENV: "staging" } });
  expect(log.join("\n")).toContain(`No environment found in configuration with name "staging".`);
});

test.each<[string, Record<string, Content>, string]>([
  [
    "the script of a Pages project at the root",
    { "index.html": "hello", "_worker.js": "export default {};" },
    "Uploading a Pages _worker.js file as an asset.",
  ],
  [
    "an .assetsignore that is not text",
    { ...PUBLIC, "public/.assetsignore": Buffer.from([0xff, 0xfe]) },
    `.assetsignore" must be UTF-8 encoded`,
  ],
  [
    "a file that is too large",
    { ...PUBLIC, "public/film.bin": Buffer.alloc(25 * 1024 * 1024 + 1) },
    "Asset too large. Cloudflare Workers supports assets with sizes of up to 25 MiB.",
  ],
  ["_headers as a folder", { ...PUBLIC, "public/_headers/a.txt": "a" }, "EISDIR"],
  [
    "a link to a missing file",
    { ...PUBLIC, "public/own.html": { link: "missing.html" } },
    "Missing file or directory: public/own.html",
  ],
])("wrangler refuses a site with %s", async (_case, files, message) => {
  expect(await bundleFailure(bundler, files)).toMatchObject({
    kind: "user",
    message: expect.stringContaining(message),
  });
});

async function bundleFiles(files: Readonly<Record<string, Content>>, options: Partial<BundleRequest> = {}) {
  await using checkout = await createCheckout(files);
  const { bundle, log } = await runBundler(bundler, checkout, undefined, options);
  const { code, assets, ...rest } = bundle;
  const { metadata, main } = await readUploadForm(scriptPathOf({ code }));
  return {
    bundle: { ...rest, rules: assets?.rules },
    files: await readFiles(assets?.directory ?? ""),
    metadata,
    script: main,
    // Wrangler adds a comment to the script. At the root, it counts its temporary files too.
    log: log
      .replaceAll(/\d\.\d\d KiB/g, "n KiB")
      .replace(/Read \d+ files from the assets directory \/build$/m, "Read n files from the assets directory /build")
      .split("\n"),
    // Wrangler creates a folder for its temporary files.
    ranWrangler: existsSync(path.join(checkout.sourceDirectory, options.rootDirectory ?? ".", ".wrangler")),
  };
}

async function readFiles(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const texts = paths.toSorted().map(async (file) => [path.relative(folder, file), await readFile(file, "utf8")]);
  return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
}
