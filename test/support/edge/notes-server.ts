import { expect } from "vitest";
import type { AppResponse } from "./test-platform.ts";

/** A Node server that keeps notes in a SQLite database and in files of `/data`, and returns what it sends to WebSockets. */
export const NOTES_SERVER = `
const fs = require("node:fs");
const { DatabaseSync } = require("node:sqlite");
const database = new DatabaseSync("/data/app.db");
database.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS notes(text)");
const started = Math.random();
require("node:http").createServer((request, response) => {
  const text = request.url.slice(1);
  if (text !== "" && request.method === "POST") {
    database.prepare("INSERT INTO notes VALUES (?)").run(text);
    fs.mkdirSync("/data/folder/inner", { recursive: true });
    fs.writeFileSync("/data/folder/inner/" + text, text, { mode: 0o640 });
    fs.rmSync("/data/newest", { force: true });
    fs.symlinkSync("folder/inner/" + text, "/data/newest");
  }
  const notes = database.prepare("SELECT text FROM notes").all().map((row) => row.text);
  const { integrity_check: integrity } = database.prepare("PRAGMA integrity_check").get();
  const newest = fs.existsSync("/data/newest") ? fs.readFileSync("/data/newest", "utf8") : null;
  const { "x-forwarded-for": client, "x-service-auth": auth, "x-service-edge": edge } = request.headers;
  response.end(JSON.stringify({ notes, newest, integrity, started, client, auth, edge }));
}).on("upgrade", (request, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n");
  socket.pipe(socket);
}).listen(process.env.PORT);`;

export interface Notes {
  notes: string[];
  newest: string | null;
  integrity: string;
  /** Differs between processes. */
  started: number;
  /** What the app sees of a request. */
  client: string;
  auth?: string;
  edge?: string;
}

/** Reads the response of the server. */
export function readNotes({ status, text }: AppResponse): Notes {
  expect([status, text]).toEqual([200, expect.stringContaining("notes")]);
  return JSON.parse(text) as Notes;
}
