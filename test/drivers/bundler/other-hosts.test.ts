import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { type Content, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";

const bundler = createTestBundler({}, tmpdir());
const BUILD_SITE = 'mkdir -p site && echo "<h1>$NAME</h1>" >site/index.html';

async function bundleSite(files: Readonly<Record<string, Content>>) {
  await using checkout = await createCheckout(files);
  const { bundle, log } = await runBundler(bundler, checkout);
  const read = (name: string) => readFile(path.join(bundle.assets?.directory ?? "", name), "utf8").catch(() => null);
  const [index, redirects, headers] = [await read("index.html"), await read("_redirects"), await read("_headers")];
  const moved = [await read("name/index.html"), await read("name/assets/a.js")];
  return { bundle, log, index, redirects, headers, moved };
}

test("the build and the rules of netlify.toml are used", async () => {
  const { bundle, log, index, redirects, headers } = await bundleSite({
    "package.json": JSON.stringify({ scripts: { build: "exit 1" } }),
    "netlify.toml": `
[build]
command = "npm ci && ${BUILD_SITE.replaceAll('"', '\\"')}"
publish = "site/"
functions = "functions"
[build.environment]
NAME = "hello"
[[redirects]]
from = "/old/*"
to = "/new/:splat"
[[redirects]]
from = "/api/*"
to = "https://api.example/:splat"
status = 200
[[redirects]]
from = "/*"
to = "/index.html"
status = 200
[[headers]]
for = "/*.js"
[headers.values]
x-frame-options = "DENY"
`,
  });
  expect(log).toContain("Running the build command of netlify.toml.\n");
  expect(index).toBe("<h1>hello</h1>\n");
  expect(redirects).toBe("\n/old/* /new/:splat 301\n");
  expect(headers).toBe("\n/*.js\n  x-frame-options: DENY\n");
  expect(bundle.assets?.rules.not_found_handling).toBe("single-page-application");
  expect(bundle.warnings).toEqual([
    "The platform ignores these settings of netlify.toml: functions, the rewrite of /api/*.",
  ]);
});

test("the build and the rules of vercel.json are used", async () => {
  const { bundle, redirects, headers } = await bundleSite({
    "vercel.json": JSON.stringify({
      installCommand: "pnpm install --frozen-lockfile",
      buildCommand: BUILD_SITE,
      outputDirectory: "site",
      trailingSlash: false,
      crons: [{ path: "/api/daily", schedule: "0 0 * * *" }],
      redirects: [
        { source: "/old", destination: "/new", permanent: true },
        { source: "/blog/:path*", destination: "/posts/:path*", permanent: false },
        { source: "/who", destination: "/me", has: [{ type: "host", value: "example.com" }] },
      ],
      rewrites: [
        { source: "/about", destination: "/about-us.html" },
        { source: "/((?!api/.*).*)", destination: "/index.html" },
      ],
      headers: [
        { source: "/(.*)", headers: [{ key: "x-a", value: "1" }] },
        { source: "/(a|b).woff2", headers: [{ key: "x-b", value: "1" }] },
      ],
    }),
  });
  expect(redirects).toBe("\n/old /new 308\n/blog/* /posts/:splat 307\n/about /about-us.html 200\n");
  expect(headers).toBe("\n/*\n  x-a: 1\n");
  expect(bundle.assets?.rules).toEqual({
    not_found_handling: "single-page-application",
    html_handling: "drop-trailing-slash",
  });
  expect(bundle.warnings).toEqual([
    "The platform ignores these settings of vercel.json: crons, the redirect of /who, the headers of /(a|b).woff2.",
  ]);
});

test("netlify.toml can name the folder of the site", async () => {
  const { bundle, log, index } = await bundleSite({
    "netlify.toml": `[build]\n  command = "${BUILD_SITE.replaceAll('"', '\\"')}"\n  base = "/web/"\n  publish = "site"\n`,
    "web/package.json": "{}",
    "index.html": "<h1>other</h1>",
  });
  expect(log).toContain("Deploying web, the base folder in netlify.toml.\n");
  expect(bundle.rootDirectory).toBe("web");
  expect(index).toBe("<h1></h1>\n");
});

test("an invalid file is ignored, with a warning", async () => {
  const { bundle, index } = await bundleSite({ "vercel.json": "{", "index.html": "<h1>hello</h1>" });
  expect(index).toBe("<h1>hello</h1>");
  expect(bundle.warnings).toEqual([
    "The platform ignores these settings of vercel.json: all of it, because it is not valid.",
  ]);
});

test("a wrangler configuration has precedence over the settings of other hosts", async () => {
  const { bundle, log, index } = await bundleSite({
    "wrangler.json": JSON.stringify({ compatibility_date: "2026-06-01", assets: { directory: "public" } }),
    "public/index.html": "<h1>hello</h1>",
    "vercel.json": JSON.stringify({ buildCommand: "exit 1", outputDirectory: "site" }),
  });
  expect(log).not.toContain("vercel.json");
  expect(index).toBe("<h1>hello</h1>");
  expect(bundle.warnings).toEqual([]);
});

test("a site that was built for a path below the root is served there", async () => {
  const page = `<script type="module" src="/name/assets/a.js"></script>`;
  const build = `mkdir -p dist/assets && echo '${page}' >dist/index.html && touch dist/assets/a.js`;
  const { bundle, index, redirects, moved } = await bundleSite({
    "package.json": JSON.stringify({ scripts: { build } }),
  });
  expect(redirects).toBe("/ /name/ 302\n");
  expect([index, ...moved]).toEqual([`${page}\n`, `${page}\n`, ""]);
  expect(bundle.warnings).toEqual([expect.stringContaining("served there, and / redirects to it")]);
});

test("a page that loads a script that does not exist is deployed with a warning", async () => {
  const { bundle } = await bundleSite({
    "index.html": `<script src="/missing.js"></script><link href="/a.css">`,
    "a.css": "",
  });
  expect(bundle.warnings).toEqual(["index.html loads /missing.js, which the static files do not have."]);
});

test("a page that loads the app's scripts from another host is deployed with a warning", async () => {
  const page = `<script src="https://cdn.example/library.js"></script><script src="https://me.example/app/a.js"></script>`;
  const { bundle } = await bundleSite({ "index.html": page, "a.js": "" });
  expect(bundle.warnings).toEqual([
    expect.stringContaining("index.html loads its files from https://me.example/app/, not from this app."),
  ]);
});

test("a build for the address of another host loads its files from the app", async () => {
  const base = "https://me.example/app/";
  const page = `<script src="https://cdn.example/library.js"></script><script src="${base}name/assets/a.js"></script>`;
  const build = [
    "mkdir -p dist/name/assets",
    `echo '${page}' >dist/index.html`,
    `echo 'import("${base}b.js")' >dist/name/assets/a.js`,
  ];
  const { bundle, index, moved } = await bundleSite({
    "package.json": JSON.stringify({ scripts: { build: build.join(" && ") } }),
  });
  expect(index).toBe(page.replace(base, "/").concat("\n"));
  expect(moved[1]).toBe('import("/b.js")\n');
  expect(bundle.warnings).toEqual([expect.stringContaining(`The build was made for ${base}.`)]);
});

test("a build for another host with hashes of its files is not changed", async () => {
  const page = `<script src="https://me.example/a.js" integrity="sha384-AAAA"></script>`;
  const build = `mkdir dist && echo '${page}' >dist/index.html && touch dist/a.js`;
  const { bundle, index } = await bundleSite({ "package.json": JSON.stringify({ scripts: { build } }) });
  expect(index).toBe(`${page}\n`);
  expect(bundle.warnings).toEqual([expect.stringContaining("index.html loads its files from https://me.example/, ")]);
});
