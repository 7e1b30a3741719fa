import { expect, test } from "vitest";
import { openTestCluster, type TestCluster } from "../../../support/edge/cluster-edge.ts";
import { publishServer } from "../../../support/edge/node-server.ts";
import type { TestPlatform } from "../../../support/edge/test-platform.ts";

/** Keeps notes in a SQLite database, and in files. */
const NOTES = `
const fs = require("node:fs");
const { DatabaseSync } = require("node:sqlite");
const database = new DatabaseSync("/data/app.db");
database.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS notes(text)");
const started = Math.random();
require("node:http").createServer((request, response) => {
  const text = request.url.slice(1);
  if (text !== "" && request.method === "POST") {
    database.prepare("INSERT INTO notes VALUES (?)").run(text);
    fs.writeFileSync("/data/newest.txt", text);
  }
  const notes = database.prepare("SELECT text FROM notes").all().map((row) => row.text);
  const newest = fs.existsSync("/data/newest.txt") ? fs.readFileSync("/data/newest.txt", "utf8") : null;
  const { "x-forwarded-for": client, "x-service-auth": auth, "x-service-edge": edge } = request.headers;
  response.end(JSON.stringify({ notes, newest, started, client, auth, edge }));
}).listen(process.env.PORT);`;

interface Notes {
  notes: string[];
  newest: string | null;
  /** Differs between processes. */
  started: number;
  client: string;
  auth?: string;
  edge?: string;
}

async function openTwo(cluster: TestCluster): Promise<[TestPlatform, TestPlatform]> {
  return [await cluster.openEdge(), await cluster.openEdge()];
}

async function add(edge: TestPlatform, text: string): Promise<Notes> {
  const { status, text: body } = await edge.request("shop", `/${text}`, { method: "POST", body: "" });
  expect([status, body]).toEqual([200, expect.any(String)]);
  return JSON.parse(body) as Notes;
}

async function read(edge: TestPlatform): Promise<Notes> {
  const { status, text } = await edge.request("shop");
  expect([status, text]).toEqual([200, expect.stringContaining("notes")]);
  return JSON.parse(text) as Notes;
}

test("what a Node server stores through one edge is read through the other, from the same process", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES);
  const one = await add(first, "one");
  const two = await add(second, "two");
  expect(two).toMatchObject({ notes: ["one", "two"], newest: "two", started: one.started });
  expect(await read(first)).toMatchObject({ notes: ["one", "two"], started: one.started });
});

test("after an edge is closed, another one has everything that was written", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES);
  for (const text of ["one", "two", "three"]) await add(first, text);
  await first.platform.close();
  expect(await read(second)).toMatchObject({ notes: ["one", "two", "three"], newest: "three" });
});

test("a version that is published on another edge has the data, and the first edge forwards to it", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES);
  const one = await add(first, "one");
  await publishServer(second, "shop", NOTES, { generation: 2 });
  expect(first.platform.supervisor.active).toEqual([]);
  const after = await read(second);
  expect(after.notes).toEqual(["one"]);
  expect(after.started).not.toBe(one.started);
  expect(await read(first)).toMatchObject({ notes: ["one"], started: after.started });
});
