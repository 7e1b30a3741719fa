// A process that a test can kill: opens a platform on the given data folder, publishes a Worker and a Node server
// that count their requests, and prints a line. The server counts in a database and in a file beside its code.
import { publishServer } from "./node-server.ts";
import { openTestPlatform } from "./test-platform.ts";

const [dataDirectory, slug] = process.argv.slice(2);
if (dataDirectory === undefined || slug === undefined) throw new Error("Usage: platform-process.ts <folder> <slug>");
const t = await openTestPlatform({ dataDirectory });
await t.publish(
  slug,
  `export default { async fetch(request, { KV }) {
  const count = Number(await KV.get("count")) + 1;
  await KV.put("count", String(count));
  return new Response(String(count));
} }`,
  { bindings: [{ type: "kv_namespace", name: "KV", namespace_id: "n" }] },
);
await publishServer(
  t,
  `${slug}-server`,
  `const fs = require("fs");
  const database = new (require("node:sqlite").DatabaseSync)("app.db");
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS requests (id INTEGER PRIMARY KEY)");
  require("http").createServer((request, response) => {
    database.exec("INSERT INTO requests DEFAULT VALUES");
    fs.appendFileSync("requests.txt", "request ");
    const { count } = database.prepare("SELECT count(*) AS count FROM requests").get();
    response.end(count + " " + fs.readFileSync("requests.txt", "utf8").split(" ").length);
  }).listen(process.env.PORT);`,
);
process.stdout.write("published\n");
