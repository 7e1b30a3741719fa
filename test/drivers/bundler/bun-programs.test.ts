import { expect, test } from "vitest";
import type { Content } from "../../support/builds/bundle-checkout.ts";
import { publishProject, startManifest } from "../../support/builds/publish-project.ts";

const LOCK = { "bun.lock": `{ "lockfileVersion": 1, "workspaces": { "": { "name": "app" } }, "packages": {} }\n` };

/** The form of a project of Bun: an import without extension, and syntax that Node.js does not strip. */
const SOURCES = {
  "src/index.ts": `
    import http from "node:http";
    import { Word } from "./words";
    http.createServer((request, response) => { response.end([Word.Hello, process.env.MODE, process.argv[2]].join(" ")); }).listen(process.env.PORT);`,
  "src/words.ts": `export enum Word { Hello = "hello" }`,
};

const STARTED: [what: string, files: Record<string, Content>, response: string][] = [
  [
    "a source, with a variable and an argument",
    { "package.json": startManifest("MODE=live bun run --hot ./src/index.ts now"), ...SOURCES },
    "hello live now",
  ],
  [
    "a file that Bun has built, by another script",
    {
      "package.json": JSON.stringify({
        scripts: {
          build: "bun build src/index.ts --outdir dist --target node",
          start: "bun run start:prod",
          "start:prod": "bun dist/index.js",
        },
      }),
      ...SOURCES,
    },
    "hello  ",
  ],
  [
    "the start script, by a Procfile",
    { "package.json": startManifest("bun src/index.ts"), Procfile: "web: bun run start\n", ...SOURCES },
    "hello  ",
  ],
  ["a source, and has no start script", { "package.json": "{}", ...SOURCES }, "hello  "],
];

test.each(STARTED)("Node.js runs the server of a project that starts with Bun %s", async (_what, files, response) => {
  await using app = await publishProject({ ...LOCK, ...files }, []);
  await app.published;
  expect(await app.get("/")).toBe(response);
});

test("a project that starts a handler with Bun is a Worker", async () => {
  const handler = `export default { port: 3000, fetch: () => new Response("handled") };`;
  const files = { "package.json": startManifest("bun run src/index.ts"), "src/index.ts": handler };
  await using app = await publishProject({ ...LOCK, ...files }, []);
  await app.published;
  expect([app.bundle.code.runtime, await app.get("/")]).toEqual(["worker", "handled"]);
});
