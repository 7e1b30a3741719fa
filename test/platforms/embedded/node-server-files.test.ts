import { expect, test } from "vitest";
import { publishServer } from "../../support/edge/node-server.ts";
import { openTestPlatform } from "../../support/edge/test-platform.ts";

/** Uses a SQLite database with a write-ahead log, a file of the deployment, a file and a folder beside its code. */
const KEEPS = `
  const fs = require("fs");
  const database = new (require("node:sqlite").DatabaseSync)("app.db");
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS visits (id INTEGER PRIMARY KEY)");
  const list = () => JSON.parse(fs.readFileSync("db.json", "utf8"));
  const routes = {
    "/": () => "ready",
    "/visit": () => {
      database.exec("INSERT INTO visits DEFAULT VALUES");
      fs.writeFileSync("new.json", JSON.stringify([...list(), "visit"]));
      fs.renameSync("new.json", "db.json");
      fs.mkdirSync("uploads/images", { recursive: true });
      fs.writeFileSync("draft.png", "image");
      fs.renameSync("draft.png", "uploads/images/" + list().length + ".png");
      fs.appendFileSync("visits.txt", "visit ");
      fs.appendFileSync("visits.csv", "visit,");
      return "visited";
    },
    "/remove": () => fs.rmSync("visits.txt") ?? "removed",
    "/state": () => JSON.stringify([
      database.prepare("SELECT count(*) AS count FROM visits").get().count, list(),
      fs.readFileSync("visits.csv", "utf8"), fs.existsSync("uploads/images") ? fs.readdirSync("uploads/images") : [],
      fs.readdirSync(".").filter((name) => /\\.(?:json|js|txt|csv|png)$/.test(name)),
    ]),
  };
  require("http").createServer((request, response) => response.end(routes[request.url]())).listen(process.env.PORT);`;

const FILES = ["db.json", "package.json", "server.js", "visits.csv"];
const keepsFiles = (change = "", list = "[]") => ({
  "server.js": `${KEEPS}\n${change}`,
  "db.json": list,
  "visits.csv": "visits,",
  "package.json": "{}",
});

test("what a server writes beside its code stays while it is idle, and with another version, which starts after it", async () => {
  await using t = await openTestPlatform({ limits: { idleMs: 300 } });
  const state = async () => JSON.parse((await t.request("shop", "/state")).text) as unknown;
  await publishServer(t, "shop", keepsFiles());
  await t.request("shop", "/visit");
  await publishServer(t, "shop", keepsFiles("// Another version."), { generation: 2 });
  const visited = [1, ["visit"], "visits,visit,", ["1.png"], [...FILES, "visits.txt"]];
  expect(await state()).toEqual(visited);
  await t.request("shop", "/visit");
  await t.logged("idle app stopped");
  expect(await state()).toEqual([
    2,
    ["visit", "visit"],
    "visits,visit,visit,",
    ["1.png", "2.png"],
    [...FILES, "visits.txt"],
  ]);
  await t.request("shop", "/remove");
  await publishServer(t, "shop", keepsFiles("", `["deployed"]`), { generation: 3 });
  expect(await state()).toEqual([2, ["deployed"], "visits,visit,visit,", ["1.png", "2.png"], FILES]);
  const messages = (await t.platform.runtimeLogs.read({ slug: "shop", id: "app-shop" })).map((each) => each.message);
  expect(messages).toContainEqual(
    expect.stringMatching(
      /kept in \/data\/beside-code.*"app\.db", "db\.json", "visits\.csv", "visits\.txt", "uploads"/,
    ),
  );
  expect(messages).toContainEqual(expect.stringContaining("wrote to it earlier is in /data/beside-code/db.json"));
});

test("a server renames files and folders between its code and its data, which are different file systems", async () => {
  await using t = await openTestPlatform();
  await publishServer(
    t,
    "shop",
    `const fs = require("fs");
    const { promisify } = require("util");
    const write = (name) => (fs.mkdirSync(name), fs.writeFileSync(name + "/file", name));
    require("http").createServer(async (request, response) => {
      if (request.url === "/") return response.end("ready");
      try {
        for (const name of ["a", "b", "c"]) write(name);
        fs.writeFileSync("plain", "plain");
        fs.renameSync("a", "/data/a");
        await fs.promises.rename("b", "/data/b");
        await promisify(fs.rename)("c", "/data/c");
        await (await import("node:fs/promises")).rename("plain", "/data/c/file");
        const missing = await fs.promises.rename("missing", "/data/x").catch(({ code }) => code);
        const files = ["a", "b", "c"].map((name) => fs.readFileSync("/data/" + name + "/file", "utf8"));
        response.end(JSON.stringify([...files, fs.readdirSync("/data").length, fs.existsSync("a"), missing]));
      } catch (error) {
        response.end(String(error));
      }
    }).listen(process.env.PORT);`,
  );
  expect((await t.request("shop", "/renamed")).text).toBe(JSON.stringify(["a", "b", "plain", 3, false, "ENOENT"]));
});

test("a version that fails leaves the data beside the code as it was, and one can move its database to /data", async () => {
  await using t = await openTestPlatform();
  const server = (start: string, respond = "response.end(state())") => `
    const fs = require("fs");
    const { DatabaseSync } = require("node:sqlite");
    ${start}
    const state = () => fs.readFileSync("db.json", "utf8") + file + count;
    require("http").createServer((request, response) => ${respond}).listen(process.env.PORT);`;
  const open = (file: string) => `
    const file = ${JSON.stringify(file)};
    const database = new DatabaseSync(file);
    database.exec("CREATE TABLE IF NOT EXISTS starts (id INTEGER PRIMARY KEY); INSERT INTO starts DEFAULT VALUES");
    const { count } = database.prepare("SELECT count(*) AS count FROM starts").get();`;
  const first = { "server.js": server(`${open("app.db")} fs.writeFileSync("db.json", "users");`), "db.json": "seed" };
  await publishServer(t, "shop", first);
  const fails = server(`${open("other.db")} fs.writeFileSync("db.json", "seed");`, "response.writeHead(500).end()");
  const failing = publishServer(t, "shop", { "server.js": fails, "db.json": "other seed" }, { generation: 2 });
  await expect(failing).rejects.toThrow("status 500");
  expect((await t.request("shop")).text).toBe("usersapp.db2");
  const moves = server(`if (fs.existsSync("app.db")) fs.renameSync("app.db", "/data/app.db"); ${open("/data/app.db")}`);
  await publishServer(t, "shop", { "server.js": moves, "db.json": "seed" }, { generation: 3 });
  expect((await t.request("shop")).text).toBe("users/data/app.db3");
});
