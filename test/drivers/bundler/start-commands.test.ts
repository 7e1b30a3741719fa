import { mkdir, writeFile } from "node:fs/promises";
import { afterEach, expect, test } from "vitest";
import { resolveStartFile } from "../../../server/drivers/bundler/inside/node-server/find-start-file.ts";
import { readStartCommand, readStartFile } from "../../../server/drivers/bundler/inside/node-server/start-command.ts";
import { readStartText } from "../../../server/drivers/bundler/inside/node-server/start-text.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = process.cwd();
afterEach(() => process.chdir(folder));

const startFile = (start: string, scripts: Record<string, string> = {}) =>
  readStartFile(readStartCommand({ scripts: { ...scripts, start } }));

test("a start script names the file that it runs with Node or a similar program", () => {
  const files = {
    "node dist/index.js": "dist/index.js",
    "node .": ".",
    "node --watch server.js": "server.js",
    "node --env-file .env --env-file=.env.local server.js": "server.js",
    "NODE_ENV=production node --enable-source-maps -r dotenv/config ./server": "./server",
    "npm run build && node dist/main": "dist/main",
    "cross-env PORT=1 npx tsx watch src/server.ts --verbose": "src/server.ts",
    "npx --yes tsx src/server.ts": "src/server.ts",
    "pnpm exec tsx src/server.ts": "src/server.ts",
    "yarn ts-node -P tsconfig.node.json src/server.ts": "src/server.ts",
    "dotenv -e .env.production -- node server.js": "server.js",
    "dotenvx run -f .env -- node server.js": "server.js",
    "env-cmd -f .env.local node server.js": "server.js",
    "nodemon --watch src app.js": "app.js",
    "nodemon --exec 'ts-node src/app.ts'": "src/app.ts",
    "bun run src/index.ts": "src/index.ts",
    "bun --hot src/index.ts": "src/index.ts",
    "pm2-runtime start server.js -i max": "server.js",
    "pm2-runtime server.js --name app": "server.js",
    "node -e 'require(`./server`)'": null,
    "wrangler dev": null,
    "next start": null,
    "serve -s build": null,
    "echo node x.js": null,
    "fastify start -l info app.js": null,
  };
  expect(Object.fromEntries(Object.keys(files).map((script) => [script, startFile(script)]))).toEqual(files);
});

test("a start script that runs another script names the file of that script", () => {
  const scripts = { "start:prod": "node dist/main", serve: "yarn start:prod", loop: "npm run loop" };
  const files = {
    "npm run start:prod": "dist/main",
    "npm run -s start:prod -- --verbose": "dist/main",
    "pnpm start:prod": "dist/main",
    "bun run serve": "dist/main",
    "npm run loop": null,
    "npm run absent": null,
  };
  expect(Object.fromEntries(Object.keys(files).map((script) => [script, startFile(script, scripts)]))).toEqual(files);
});

test("a start script that runs one of a package of the workspace names the file in that package", async () => {
  await using project = await temporaryFolder();
  process.chdir(project.path);
  const scripts = { start: "node index.js", prod: "npm run start" };
  await mkdir("apps/api", { recursive: true });
  await writeFile("package.json", JSON.stringify({ workspaces: ["./apps/*"] }));
  await writeFile("apps/api/package.json", JSON.stringify({ name: "@org/api", scripts }));
  const files = {
    "npm start -w @org/api": "apps/api/index.js",
    "npm start --workspace=apps/api": "apps/api/index.js",
    "npm run prod -w apps/api": "apps/api/index.js",
    "npm run build -w web && npm -w api run start": "apps/api/index.js",
    "pnpm --filter @org/api... run prod": "apps/api/index.js",
    "pnpm -F ./apps/api start": "apps/api/index.js",
    "pnpm --filter {apps/api} start": "apps/api/index.js",
    "yarn workspace @org/api start": "apps/api/index.js",
    "yarn workspace @org/api run prod": "apps/api/index.js",
    "turbo run start --filter=api": "apps/api/index.js",
    "turbo run start": null,
    "npm start -w @other/api": null,
    "pnpm -w start": null,
  };
  expect(Object.fromEntries(Object.keys(files).map((script) => [script, startFile(script)]))).toEqual(files);
});

test("a start script with a configuration of PM2 names the file of its first app", async () => {
  await using project = await temporaryFolder();
  process.chdir(project.path);
  await writeFile("ecosystem.config.js", `module.exports = { apps: [{ name: "app", script: "./server.js" }] };`);
  expect(startFile("pm2-runtime start ecosystem.config.js")).toBe("./server.js");
});

test("a folder is the file that its package.json or its index names, also without an extension", async () => {
  await using temporary = await temporaryFolder();
  process.chdir(temporary.path);
  await mkdir("bin");
  await writeFile("bin/www", "");
  await writeFile("server.js", "");
  await writeFile("package.json", JSON.stringify({ main: "./bin/www" }));
  expect(resolveStartFile(".")).toBe("bin/www");
  await writeFile("package.json", JSON.stringify({ main: "gone" }));
  expect(resolveStartFile(".")).toBeUndefined();
  await writeFile("bin/index.js", "");
  expect(resolveStartFile("bin")).toBe("bin/index.js");
});

test("the text of a start script has no package manager, nothing that builds, and the scripts that it runs", async () => {
  await using project = await temporaryFolder();
  process.chdir(project.path);
  await mkdir("api");
  await writeFile("package.json", JSON.stringify({ workspaces: ["api"] }));
  const ofApi = { prestart: "node prepare.js", start: "node index.js", serve: "npm run start -- --quiet" };
  await writeFile("api/package.json", JSON.stringify({ name: "@org/api", scripts: ofApi }));
  const inApi = 'cd api && export PATH="$PWD/node_modules/.bin:$PATH" && node prepare.js && node index.js';
  const texts = {
    "node server.js": "node server.js",
    "npm run build && node server.js": "node server.js",
    "rimraf dist && tsc && node dist/server.js": "node dist/server.js",
    "rm -rf cache && node server.js": "rm -rf cache && node server.js",
    "npm run serve": "node serve.js",
    "npm run serve -- --port 80": "node serve.js --port 80",
    "yarn serve --port 80": "node serve.js --port 80",
    "NODE_ENV=production npm run serve": "export NODE_ENV=production && node serve.js",
    "cross-env A=1 B=2 npm run serve": "export A=1 B=2 && node serve.js",
    "npm run absent": "npm run absent",
    "npm start --prefix api": inApi,
    "npm run build -w web && npm start -w api": inApi,
    "pnpm --filter @org/api run start": inApi,
    "pnpm --filter @org/api serve": `${inApi} --quiet`,
    "pnpm --filter @org/api --filter web start": "pnpm --filter @org/api --filter web start",
    "yarn workspace @org/api serve": `${inApi} --quiet`,
    "turbo run start --filter=@org/api": inApi,
    "npm run serve > log.txt": "npm run serve > log.txt",
    "sh -c 'npm run one && npm run serve -- --all'": "sh -c 'npm run one && npm run serve -- --all'",
    "cd api && npm start": "cd api && npm start",
    "npm start": null,
  };
  const textOf = (start: string) => readStartText({ scripts: { serve: "node serve.js", start } });
  expect(Object.fromEntries(Object.keys(texts).map((script) => [script, textOf(script)]))).toEqual(texts);
});
