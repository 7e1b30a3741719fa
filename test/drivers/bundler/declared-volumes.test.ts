import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { findDeclaredVolumes } from "../../../server/drivers/bundler/inside/node-server/declared-volumes.ts";
import { publishProject, startManifest } from "../../support/builds/publish-project.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { WAIT_LIMIT_MS } from "../../support/time-limits.ts";

const SCRIPT = "server/drivers/bundler/inside/node-server/keep-folders.sh";
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

const foldersOf = async (...args: Parameters<typeof volumesOf>) =>
  (await volumesOf(...args)).map(({ folder }) => folder);

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
  ["a folder beside the Compose file", { "compose.yaml": compose("./api/data:/app/data") }, ["api/data"]],
  ["a volume in another one", { "compose.yaml": compose("/app/data", "/app/data/uploads") }, ["data"]],
  [
    "nothing that is code, a file, the whole project, or elsewhere",
    {
      "compose.yaml": compose(
        ...[".:/app", "/app/node_modules", "./server:/app/server", "./.env:/app/.env", "./config.yml:/app/config.yml"],
        ...["./settings:/app/settings:ro", "db:/var/lib/postgresql/data", "./a b:/app/a b", "/app/../etc"],
        ...["./logs:/app/logs", "/app/-e", "/app/.hidden", "prisma:/app/prisma"],
      ),
      "server/index.js": "",
      "prisma/schema.prisma": "",
      Dockerfile: "WORKDIR $HOME\nVOLUME $HOME/data",
    },
    [],
  ],
  ["nothing of a Compose file that cannot be read", { "compose.yaml": "services: [" }, []],
])("%s declares volumes", async (_case, files, volumes) => {
  expect(await foldersOf(files)).toEqual(volumes);
});

test("a Compose file at the root of the source declares volumes of a package, with names that do not depend on it", async () => {
  const files = { "compose.yaml": compose("./var:/app/var", "./api/data:/app/api/data"), "api/package.json": "{}" };
  const ofSource = [
    { folder: "var", key: "var", isFilled: false },
    { folder: "api/data", key: "api%2Fdata", isFilled: false },
  ];
  expect(await volumesOf(files)).toEqual(ofSource);
  expect(await volumesOf(files, "api")).toEqual([
    { ...ofSource[0], folder: "../var" },
    { ...ofSource[1], folder: "data" },
  ]);
});

test("a volume with files that each deployment brings is filled, and one with a placeholder is not", async () => {
  const files = {
    "compose.yaml": compose("content:/app/content", "data:/app/data"),
    "content/post.md": "",
    "data/.gitkeep": "",
    "data/README.md": "",
  };
  expect(await volumesOf(files)).toEqual([
    { folder: "content", key: "content", isFilled: true },
    { folder: "data", key: "data", isFilled: false },
  ]);
});

const PROJECT = {
  "package.json": startManifest("node server.js"),
  "compose.yaml": compose("./store:/app/store", "./content:/app/content"),
  "content/page.txt": "deployed",
  "server.js": `
    const fs = require("fs");
    const started = String(Math.random());
    require("http").createServer(({ method, url }, response) => {
      if (method === "POST") {
        fs.appendFileSync("store/notes.txt", "written ");
        fs.appendFileSync("content/page.txt", " and written");
        setTimeout(() => process.exit(), 50);
      }
      const notes = fs.existsSync("store/notes.txt") ? fs.readFileSync("store/notes.txt", "utf8") : "";
      response.end(url === "/started" ? started : notes + fs.readFileSync("content/page.txt", "utf8"));
    }).listen(process.env.PORT);`,
};

test("a declared volume keeps what the server writes, and data stays in a folder with files of the repository too", async () => {
  await using app = await publishProject(PROJECT, []);
  await app.published;
  expect(app.log).toContain("Volumes of the Dockerfile or Compose file are kept in /data: store.");
  const first = await app.get("/started");
  expect(await app.post("/", "")).toBe("written deployed and written");
  const isRestarted = new RegExp(`^0[.](?!${first.slice(2)})`);
  await expect.poll(() => app.get("/started"), { timeout: WAIT_LIMIT_MS }).toMatch(isRestarted);
  expect(await app.get("/")).toBe("written deployed and written");
});

test("keep-folders.sh adds new files to a folder that an earlier deployment kept, and changes none", async () => {
  await using sandbox = await temporaryFolder();
  const script = await readFile(path.resolve(folder, SCRIPT), "utf8");
  const run = (...words: string[]) => {
    const inSandbox = script.replaceAll("/data/volumes", `${sandbox.path}/volumes`);
    execFileSync("sh", ["-c", inSandbox, "sh", ...words], { cwd: sandbox.path });
  };
  const at = (name: string) => path.join(sandbox.path, name);
  run("a=a", "x%2Fb=../" + path.basename(sandbox.path) + "/x/b", "--", "c=c");
  await writeFile(at("a/stored.txt"), "stored");
  await writeFile(at("x/b/stored.txt"), "stored");
  // The next deployment has files for it.
  await rm(at("a"));
  await mkdir(at("a"));
  await writeFile(at("a/stored.txt"), "deployed");
  await writeFile(at("a/new.txt"), "deployed");
  run("--", "a=a");
  run("--", "a=a");
  expect(await readFile(at("a/stored.txt"), "utf8")).toBe("stored");
  expect((await readdir(at("volumes/a"))).toSorted()).toEqual(["new.txt", "stored.txt"]);
  expect((await readdir(at("volumes"))).toSorted()).toEqual(["a", "x%2Fb"]);
});
