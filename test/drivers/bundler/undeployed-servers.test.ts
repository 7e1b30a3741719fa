import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";

const bundler = createTestBundler({}, tmpdir());

const PAGES = JSON.stringify({ scripts: { build: "mkdir dist && echo hello >dist/index.html" } });
const EXPRESS = 'import express from "express";\nconst app = express();\n';

async function warningsOf(files: Readonly<Record<string, string>>, rootDirectory?: string): Promise<string[]> {
  await using checkout = await createCheckout(files);
  const options = rootDirectory === undefined ? {} : { rootDirectory };
  const { bundle } = await runBundler(bundler, checkout, new AbortController().signal, options);
  return [...bundle.warnings];
}

describe("static files are deployed with a warning that names what was not", { concurrent: true }, () => {
  test.each([
    ["server.js", `${EXPRESS}app.get("/api/a", handler);\napp.listen(3000);`, 'let "start" in package.json run it'],
    ["server/index.ts", `${EXPRESS}app.use("/api", routes);\napp.listen(3000);`, 'let "start" in package.json run it'],
    ["api/src/main.ts", 'import { NestFactory } from "@nestjs/core";\nawait app.listen(3000);', "one Node server"],
  ])("a server in %s", async (file, text, advice) => {
    const [warning, ...others] = await warningsOf({ "package.json": PAGES, [file]: text });
    expect(others).toEqual([]);
    expect(warning).toContain(`${file} starts a server, which was not deployed: only the static files in dist were. `);
    expect(warning).toContain(advice);
  });

  test("a server in a folder beside the folder of the app", async () => {
    const files = {
      "client/package.json": PAGES,
      "server/package.json": "{}",
      "server/index.js": `${EXPRESS}app.get("/api/a", handler);\napp.listen(3000);`,
    };
    expect(await warningsOf(files, "client")).toEqual([
      "server/index.js starts a server, which was not deployed: only the static files in dist were. Deploy it as an app of its own, with root_directory set to its folder.",
    ]);
  });

  test("a function of Vercel", async () => {
    const text = "export default async function handler(req, res) { res.end(); }";
    expect(await warningsOf({ "package.json": PAGES, "api/hello.js": text })).toEqual([
      expect.stringContaining("api/hello.js is a function of Vercel, which was not deployed"),
    ]);
  });
});

test.each([
  [
    "that serves the files only",
    "server.js",
    `${EXPRESS}app.use(express.static("dist"));\napp.get("*", (q, r) => r.sendFile("x"));\napp.listen(80);`,
  ],
  [
    "for development",
    "server.js",
    `${EXPRESS}import { createServer } from "vite";\napp.get("/api", a);\napp.listen(3000);`,
  ],
  ["in another folder", "src/server.js", `${EXPRESS}app.get("/api", a);\napp.listen(3000);`],
  ["that listens to nothing", "server/index.ts", "export const address = 'https://api.example.com';"],
  [
    "that is a client",
    "api/client.ts",
    "export default async function load(id: string) { return fetch(`/api/${id}`); }",
  ],
])("static files beside a server %s have no warning", async (_kind, file, text) => {
  expect(await warningsOf({ "package.json": PAGES, [file]: text })).toEqual([]);
});
