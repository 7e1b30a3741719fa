import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { findDeclaredVolumes } from "../../../server/drivers/bundler/inside/node-server/declared-volumes.ts";
import { publishProject, startManifest } from "../../support/builds/publish-project.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { WAIT_LIMIT_MS } from "../../support/time-limits.ts";

const folder = process.cwd();
afterEach(() => process.chdir(folder));

async function volumesOf(files: Readonly<Record<string, string>>, project = ".") {
  await using source = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(source.path, name)), { recursive: true });
    await writeFile(path.join(source.path, name), text);
  }
  process.chdir(path.join(source.path, project));
  return findDeclaredVolumes(source.path);
}

const compose = (...volumes: unknown[]) => JSON.stringify({ services: { app: { image: "org/app", volumes } } });

test.each([
  ["a Dockerfile", { Dockerfile: "FROM node\nWORKDIR /srv\nWORKDIR app\nVOLUME /srv/app/data" }, ["data"]],
  ["a list in a Dockerfile", { Dockerfile: 'FROM node\nVOLUME ["/app/data", "/app/up/loads"]' }, ["data", "up/loads"]],
  ["a file in the folder docker", { "docker/app.dockerfile": "WORKDIR /wiki\nVOLUME /wiki/content" }, ["content"]],
  ["a Compose file", { "compose.yaml": compose("./data:/app/data", "uploads:/app/uploads:rw") }, ["data", "uploads"]],
  ["variables of a Compose file", { "docker-compose.yml": compose("${DATA:-./data}:/app/data") }, ["data"]],
  [
    "objects in a Compose file",
    {
      "compose.yml": compose(
        { type: "volume", source: "data", target: "/usr/src/app/data" },
        { type: "tmpfs", target: "/app/cache" },
        { type: "bind", source: "./config", target: "/app/config", read_only: true },
      ),
    },
    ["data"],
  ],
  [
    "only volumes of their own, beside folders of the project with files that each deployment brings,",
    {
      "compose.yaml": compose("./content:/app/content", "./data:/app/data", "stored:/app/stored"),
      "content/post.md": "",
      "data/.gitkeep": "",
      "stored/defaults.json": "{}",
    },
    ["data", "stored"],
  ],
  ["a volume in another one", { "compose.yaml": compose("/app/data", "/app/data/uploads") }, ["data"]],
  [
    "nothing that is code, a file, the whole project, or elsewhere",
    {
      "compose.yaml": compose(
        ...[".:/app", "/app/node_modules", "./server:/app/server", "./.env:/app/.env", "./config.yml:/app/config.yml"],
        ...["./settings:/app/settings:ro", "db:/var/lib/postgresql/data", "./a b:/app/a b", "/app/../etc"],
      ),
      "server/index.js": "",
      Dockerfile: "WORKDIR $HOME\nVOLUME $HOME/data",
    },
    [],
  ],
  ["nothing of a Compose file that cannot be read", { "compose.yaml": "services: [" }, []],
])("%s declares volumes", async (_case, files, volumes) => {
  expect(await volumesOf(files)).toEqual(volumes);
});

test("a Compose file at the root of the source declares volumes of a package", async () => {
  const files = { "compose.yaml": compose("./var:/app/var", "./api/data:/app/api/data"), "api/package.json": "{}" };
  expect(await volumesOf(files, "api")).toEqual(["../var", "data"]);
});

test("a declared volume keeps what the server writes, and begins with what was deployed", async () => {
  await using app = await publishProject(
    {
      "package.json": startManifest("node server.js"),
      "compose.yaml": compose("store:/app/store", "empty:/app/other/empty"),
      "store/notes.txt": "deployed",
      "server.js": `
        const fs = require("fs");
        const started = String(Math.random());
        require("http").createServer(({ method, url }, response) => {
          if (method === "POST") {
            fs.appendFileSync("store/notes.txt", " and written");
            setTimeout(() => process.exit(), 50);
          }
          response.end(url === "/started" ? started : fs.readFileSync("store/notes.txt", "utf8") + fs.readdirSync("other/empty").length);
        }).listen(process.env.PORT);`,
    },
    [],
  );
  await app.published;
  expect(app.log).toContain(
    "A Dockerfile or Compose file declares volumes, which are kept in /data: store, other/empty.",
  );
  const first = await app.get("/started");
  expect(await app.post("/", "")).toBe("deployed and written0");
  await expect
    .poll(() => app.get("/started"), { timeout: WAIT_LIMIT_MS })
    .toMatch(new RegExp(`^0[.](?!${first.slice(2)})`));
  expect(await app.get("/")).toBe("deployed and written0");
});
