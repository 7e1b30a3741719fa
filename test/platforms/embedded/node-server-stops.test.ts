import { readFile } from "node:fs/promises";
import http from "node:http";
import { once } from "node:events";
import path from "node:path";
import { expect, test } from "vitest";
import type { PlatformLimits } from "../../../server/platforms/embedded/open-embedded-platform.ts";
import { openNodeServers } from "../../../server/composition/edge.ts";
import { processesWith } from "../../support/sandbox/sandbox-command.ts";
import { uniqueSleepSeconds } from "../../contract/sandbox.ts";
import { publishServer } from "../../support/edge/node-server.ts";
import { openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";

/** A server that needs some time to store its data when it gets SIGTERM. */
const FLUSHES = `
  const fs = require("fs");
  const server = require("http").createServer((request, response) => response.end("ready")).listen(process.env.PORT);
  process.once("SIGTERM", () => server.close(() => setTimeout(() => {
    fs.appendFileSync("/data/flushed", "flushed ");
    process.exit();
  }, 200)));`;

const IGNORES = `
  process.on("SIGTERM", () => console.log("ignored"));
  require("http").createServer((request, response) => response.end("ready")).listen(process.env.PORT);`;

const flushedBy = ({ root }: TestPlatform, slug = "shop") =>
  readFile(path.join(root, "scripts", slug, `app-${slug}`, "storage/data/flushed"), "utf8").catch(() => "");

const open = (limits: Partial<PlatformLimits> = {}) => openTestPlatform({ limits: { stopGraceMs: 30_000, ...limits } });

test.each([
  ["node", "node server.js"],
  ["a shell", "true && node server.js; true"],
  ["an npm script", "npm run serve"],
  ["npm scripts that run each other", "npm run outer"],
  ["pnpm", "pnpm run serve"],
  ["Yarn", "yarn run serve"],
])("an idle server that %s has started stores its data before it ends", async (_what, command) => {
  await using t = await open({ idleMs: 100 });
  const scripts = { serve: "true && node server.js; true", outer: "npm run serve && true" };
  await publishServer(t, "shop", { "server.js": FLUSHES, "package.json": JSON.stringify({ scripts }) }, { command });
  await t.logged("idle app stopped");
  expect(await flushedBy(t)).toBe("flushed ");
});

test("a server that is replaced, restarted for its variables or closed stores its data, and one that is removed does not", async () => {
  const t = await open();
  await publishServer(t, "shop", FLUSHES);
  await publishServer(t, "shop", `${FLUSHES}\n// Another version.`, { generation: 2 });
  expect(await flushedBy(t)).toBe("flushed ");
  t.variables.set("app-shop", { KEY: "one" });
  await t.platform.scripts.restart("shop", AbortSignal.timeout(30_000));
  expect(await flushedBy(t)).toBe("flushed flushed ");
  await publishServer(t, "other", IGNORES);
  await t.platform.scripts.unpublish("other");
  await t.platform.close();
  expect(await flushedBy(t)).toBe("flushed flushed flushed ");
  await t[Symbol.asyncDispose]();
});

test("a request in flight is finished before the server gets SIGTERM", async () => {
  await using t = await open();
  const slow = `require("http").createServer((request, response) => {
    if (request.url !== "/slow") return response.end("ready");
    response.write("first ");
    setTimeout(() => response.end("last"), 1000);
  }).listen(process.env.PORT);`;
  await publishServer(t, "shop", slow);
  const request = http.get({ port: t.platform.port, path: "/slow", headers: { host: "shop.localhost" } });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk));
  const ended = once(response, "end");
  await publishServer(t, "shop", FLUSHES, { generation: 2 });
  await ended;
  expect(Buffer.concat(chunks).toString()).toBe("first last");
});

test("the primary process of a cluster stops its workers itself", async () => {
  await using t = await open({ idleMs: 100 });
  await publishServer(
    t,
    "shop",
    `const cluster = require("cluster");
    const fs = require("fs");
    const log = (text) => fs.appendFileSync("/data/flushed", text + " ");
    if (cluster.isPrimary) {
      for (let n = 0; n < 2; n++) cluster.fork();
      process.on("SIGTERM", () => cluster.disconnect(() => { log("primary"); process.exit(); }));
    } else {
      process.on("SIGTERM", () => log("signal"));
      cluster.worker.on("disconnect", () => log("worker"));
      require("http").createServer((request, response) => response.end("ready")).listen(process.env.PORT);
    }`,
  );
  await t.logged("idle app stopped");
  expect(await flushedBy(t)).toBe("worker worker primary ");
});

test.each([
  ["ignores SIGTERM", ""],
  ["starts processes that ignore SIGTERM and leave its session", `process.once("SIGTERM", () => process.exit());`],
])("after the grace time nothing is left of a server that %s", async (_what, code) => {
  const seconds = uniqueSleepSeconds();
  await using t = await open({ idleMs: 100, stopGraceMs: 300 });
  const start = `require("child_process").spawn("setsid", ["sh", "-c", "trap '' TERM HUP; sleep ${seconds} & sleep ${seconds}"]);`;
  await publishServer(t, "shop", `${start}\n${IGNORES}\n${code}`);
  await t.logged("idle app stopped");
  expect(await processesWith(seconds)).toEqual([]);
});

test("without a sandbox a server stores its data too", async () => {
  await using t = await openTestPlatform({
    sandbox: "none",
    nodeServers: openNodeServers({ sandbox: "none" }),
    limits: { idleMs: 100, stopGraceMs: 30_000 },
  });
  await publishServer(
    t,
    "shop",
    FLUSHES.replace(`"/data/flushed"`, `require("path").dirname(process.env.SQLITE_PATH) + "/flushed"`),
  );
  await t.logged("idle app stopped");
  expect(await flushedBy(t)).toBe("flushed ");
});
