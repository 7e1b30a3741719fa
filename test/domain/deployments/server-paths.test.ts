import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { ServerError, UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import { givenQueuedDeployment } from "../../support/builds/given-deployment.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

interface Failure {
  message: string;
  printed?: string[];
  /** The files of the source. */
  files?: Record<string, string>;
  runtime?: "worker" | "node";
}

/** What a deployment says whose server fails with a message. */
async function failWith({ message, printed = [], files = {}, runtime = "node" }: Failure) {
  const app = await givenQueuedDeployment(service(), {
    bundle: async ({ sourceDirectory }) => {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(path.dirname(path.join(sourceDirectory, name)), { recursive: true });
        await writeFile(path.join(sourceDirectory, name), text);
      }
      return runtime === "worker"
        ? { rootDirectory: "." }
        : { rootDirectory: ".", code: { runtime: "node", server: { command: "node .", directory: ".", layers: [] } } };
    },
    publish: () => {
      throw new UnhealthyScript(message, { printed });
    },
  });
  await app.run();
  return app.view();
}

const TRACE = [
  "at Object.mkdirSync (node:fs:1410:26)",
  "at init (/build/node_modules/driver/index.js:1:2)",
  "at Object.<anonymous> (/build/src/persistence/sqlite.js:12:5)",
];

test("a server that creates a folder outside its own fails with the path, and the variable whose default it is", async () => {
  const { error, status_message: advice } = await failWith({
    message: "The server ended with status 1: Error: ENOENT: no such file or directory, mkdir '/etc/todos'",
    printed: ["Error: ENOENT: no such file or directory, mkdir '/etc/todos'", ...TRACE],
    files: {
      "src/persistence/sqlite.js": "const location = process.env.SQLITE_DB_LOCATION || '/etc/todos/todo.db';",
      "node_modules/driver/index.js": "const location = process.env.WRONG || '/etc/todos/todo.db';",
    },
  });
  expect(error).toContain("mkdir '/etc/todos'");
  expect(advice).toBe(
    "A server can write only to its folder and to /data, which stays, and not to /etc/todos. Let SQLITE_DB_LOCATION name a path below /data, such as /data/todo.db. Set SQLITE_DB_LOCATION: PUT /v1/apps/{id}/variables/SQLITE_DB_LOCATION, or svc variables set APP SQLITE_DB_LOCATION VALUE. Then deploy again.",
  );
});

test("SQLite names no path, so the default of a variable in the trace is the path", async () => {
  const { status_message: advice } = await failWith({
    message: "The server ended with status 1: Error: SQLITE_CANTOPEN: unable to open database file",
    printed: TRACE,
    files: { "src/persistence/sqlite.js": `open(process.env["DB_FILE"] ?? "/var/lib/app/main.sqlite")` },
  });
  expect(advice).toContain(
    "not to /var/lib/app/main.sqlite. Let DB_FILE name a path below /data, such as /data/main.sqlite.",
  );
});

test.each([
  [
    "EACCES: permission denied, open '/var/log/app.log'",
    "not to /var/log/app.log.",
    "such as /data/app.log, and deploy again.",
  ],
  ["EROFS: read-only file system, mkdir '/app/data'", "not to /app/data.", "such as /data, and deploy again."],
  [
    "ENOENT: no such file or directory, open '/etc/app.json'",
    "not to /etc/app.json.",
    "If the server only reads the file, add it",
  ],
  ["unable to open database file", "to /data, which stays.", "such as /data/app.db, and deploy again."],
])("without such a variable the advice names the path: %s", async (text, rule, use) => {
  const { status_message: advice } = await failWith({ message: `The server ended with status 1: Error: ${text}` });
  expect(advice).toContain(rule);
  expect(advice).toContain(use);
});

test.each([
  ["a path in the folder of the server", "ENOENT: no such file or directory, open '/build/config.json'", "node"],
  ["a path in /data", "ENOENT: no such file or directory, open '/data/a/b'", "node"],
  ["a Worker", "ENOENT: no such file or directory, open '/etc/app.json'", "worker"],
] as const)("the advice is the usual one for %s", async (_case, text, runtime) => {
  const { status_message: advice } = await failWith({ message: `It stopped: Error: ${text}`, runtime });
  expect(advice).toContain("did not respond to its first request");
});

test("a server that responds with such an error is live with the advice", async () => {
  const message = "It responded with status 500: Error: EROFS: read-only file system, open '/srv/uploads/1.png'";
  const app = await givenQueuedDeployment(service(), {
    bundle: () => ({ code: { runtime: "node", server: { command: "node .", directory: ".", layers: [] } } }),
    publish: () => new ServerError(message),
  });
  await app.run();
  expect((await app.view()).status_message).toContain("Use a path below /data, such as /data/1.png");
});
