// A process that a test can kill: opens a platform on the given data folder, publishes an app that counts its requests,
// and prints a line. A Node server counts them in a database and in a file beside its code.
import { publishServer } from "./node-server.ts";
import { openTestPlatform } from "./test-platform.ts";

const [dataDirectory, slug, runtime = "worker"] = process.argv.slice(2);
if (dataDirectory === undefined || slug === undefined)
  throw new Error("Usage: platform-process.ts <folder> <slug> [node]");
const SERVER = `
  const fs = require("fs");
  const database = new (require("node:sqlite").DatabaseSync)("app.db");
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS requests (id INTEGER PRIMARY KEY)");
  require("http").createServer((request, response) => {
    database.exec("INSERT INTO requests DEFAULT VALUES");
    fs.appendFileSync("requests.txt", ".");
    const { count } = database.prepare("SELECT count(*) AS count FROM requests").get();
    response.end(count + " " + fs.readFileSync("requests.txt", "utf8"));
  }).listen(process.env.PORT);`;
const t = await openTestPlatform({ dataDirectory });
if (runtime === "node") await publishServer(t, slug, SERVER);
else
  await t.publish(
    slug,
    `export default { async fetch(request, { KV }) {
  const count = Number(await KV.get("count")) + 1;
  await KV.put("count", String(count));
  return new Response(String(count));
} }`,
    { bindings: [{ type: "kv_namespace", name: "KV", namespace_id: "n" }] },
  );
process.stdout.write("published\n");
