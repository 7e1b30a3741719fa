import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import type { RestClient } from "../support/clients/rest-client.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { openSeparateProcesses } from "../support/service/separate-processes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A Node server that keeps its notes in a SQLite file in `/data`. */
const NOTES = {
  "package.json": JSON.stringify({ name: "notes", private: true, scripts: { start: "node server.js" } }),
  "server.js": `const { DatabaseSync } = require("node:sqlite");
const database = new DatabaseSync(process.env.SQLITE_PATH);
database.exec("CREATE TABLE IF NOT EXISTS notes(text)");
require("node:http").createServer((request, response) => {
  if (request.method === "POST") database.prepare("INSERT INTO notes VALUES (?)").run(request.url);
  response.end(String(database.prepare("SELECT count(*) AS count FROM notes").get().count));
}).listen(process.env.PORT);`,
};

test(
  "a Worker and a Node server continue on another edge when one is stopped, and lose nothing",
  { timeout: 300_000 },
  async () => {
    await using folder = await temporaryFolder();
    await (await Repository.create(folder.path, "acme/notes")).commitFiles(NOTES);
    await using processes = await openSeparateProcesses(
      { GIT_BASE_URL: pathToFileURL(folder.path).href },
      { edges: 2 },
    );
    const edges = [await processes.start("edge-1"), await processes.start("edge-2")];
    await processes.start("worker-1");
    const rest = await processes.client(await processes.start("api-1"));
    const [notes, guestbook] = [await deploy(rest, "acme/notes"), await deploy(rest, "examples/guestbook")];
    // The balancer sends them to both edges in turn.
    const counts: string[] = [];
    for (let n = 0; n < 4; n++) counts.push((await appRequest(notes, { method: "POST" })).text);
    expect(counts).toEqual(["1", "2", "3", "4"]);
    for (let n = 0; n < 4; n++) expect((await appRequest(guestbook)).status).toBe(200);
    for (const edge of edges) {
      await edge.end("SIGTERM");
      expect(await appRequest(notes)).toMatchObject({ status: 200, text: "4" });
      expect((await appRequest(guestbook)).status).toBe(200);
      await processes.start(edge.name);
    }
  },
);

async function deploy(rest: RestClient, repo: string): Promise<string> {
  const { status, body } = await rest.deploy({ repo });
  expect(status).toBe(201);
  const read = async () => (await rest.get(`/v1/apps/${String(body["app_id"])}`)).body;
  await expect.poll(async () => (await read())["status"], { timeout: 120_000 }).toMatch(/ready|failed/);
  expect(await read()).toMatchObject({ status: "ready" });
  return String((await read())["url"]);
}
