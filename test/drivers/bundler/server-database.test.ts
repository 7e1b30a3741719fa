import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { keepDatabasesInData } from "../../../server/drivers/bundler/inside/node-server/database-paths.ts";
import { readServerDatabase } from "../../../server/drivers/bundler/inside/node-server/server-database.ts";
import type { PackageJson } from "../../../server/drivers/bundler/inside/package-json.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary-folder.ts";

const start = process.cwd();
afterEach(() => process.chdir(start));

async function givenFiles(files: Readonly<Record<string, string>>): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder.path, name)), { recursive: true });
    await writeFile(path.join(folder.path, name), text);
  }
  process.chdir(folder.path);
  return folder;
}

async function read(
  files: Readonly<Record<string, string>>,
  packageJson: PackageJson = {},
  command = "node server.js",
) {
  await using _folder = await givenFiles(files);
  return readServerDatabase(packageJson, command);
}

const SCHEMA = `generator client { provider = "prisma-client-js" }
datasource db { provider = "postgresql" url = env("POOLED_URL") directUrl = env("DIRECT_URL") }`;
const PRISMA = { "node_modules/.bin/prisma": "", "node_modules/prisma/package.json": `{ "version": "6.1.0" }` };

test("a Prisma schema names the database, its variables, and how it is brought up to date", async () => {
  const variables = { POOLED_URL: "url", DIRECT_URL: "url" };
  expect(
    await read({ ...PRISMA, "prisma/schema.prisma": SCHEMA, "prisma/migrations/migration_lock.toml": "" }),
  ).toEqual({
    postgres: { variables },
    migration: "prisma migrate deploy --schema prisma/schema.prisma",
  });
  expect(await read({ ...PRISMA, "db/schema.prisma": SCHEMA })).toEqual({
    postgres: { variables },
    migration: "prisma db push --skip-generate --schema db/schema.prisma",
  });
  const sqlite = SCHEMA.replace("postgresql", "sqlite");
  expect(
    await read({ ...PRISMA, "prisma/schema.prisma": sqlite, "prisma/migrations/migration_lock.toml": "" }),
  ).toEqual({
    migration: "prisma migrate deploy --schema prisma/schema.prisma",
  });
  expect(await read({ ...PRISMA, "prisma/schema.prisma": SCHEMA.replace("postgresql", "mysql") })).toEqual({});
});

test("the configuration of Prisma 7 names the schema and the variable", async () => {
  const config = `export default defineConfig({ schema: "prisma/schema", datasource: { url: env("APP_DB") } })`;
  const schema = `datasource db { provider = "postgresql" }`;
  const files = { "node_modules/.bin/prisma": "", "prisma.config.ts": config, "prisma/schema/base.prisma": schema };
  expect(await read(files)).toEqual({ postgres: { variables: { APP_DB: "url" } }, migration: "prisma db push" });
});

test("Drizzle migrates if the project has migrations, and pushes its schema otherwise", async () => {
  const config = `export default { dialect: "postgresql", out: "./lib/migrations", dbCredentials: { url: process.env.POSTGRES_URL! } }`;
  const files = { "drizzle.config.ts": config, "node_modules/.bin/drizzle-kit": "" };
  const postgres = { variables: { POSTGRES_URL: "url" } };
  expect(await read(files)).toEqual({ postgres, migration: "drizzle-kit push" });
  const journal = { "lib/migrations/meta/_journal.json": "{}" };
  expect(await read({ ...files, ...journal })).toEqual({ postgres, migration: "drizzle-kit migrate" });
  expect(await read({ "drizzle.config.ts": config })).toEqual({ postgres });
  const old = { ...files, "node_modules/drizzle-kit/package.json": '{ "version": "0.20.14" }' };
  expect(await read(old)).toEqual({ postgres, migration: "drizzle-kit push:pg" });
  expect(await read({ ...old, ...journal })).toEqual({ postgres });
  const earlierConfig = { "drizzle.config.ts": config.replace('dialect: "postgresql"', 'driver: "pg"') };
  expect(await read({ ...files, ...journal, ...earlierConfig })).toEqual({ postgres });
});

test("Knex migrates to its latest version", async () => {
  const config = `module.exports = { development: { client: "sqlite3" }, production: { client: "pg" } }`;
  const files = { "knexfile.js": config, "node_modules/.bin/knex": "" };
  expect(await read(files)).toEqual({ postgres: { variables: {} }, migration: "knex migrate:latest" });
});

test("without such a tool, the packages name the database and a script migrates it", async () => {
  const packageJson = { dependencies: { pg: "8" }, scripts: { migrate: "node migrate.js up", "db:migrate": "other" } };
  expect(await read({}, packageJson)).toEqual({ postgres: { variables: {} }, migration: "npm run migrate" });
  const development = {
    dependencies: { pg: "8" },
    scripts: { migrate: "prisma migrate dev", "db:migrate": "x generate" },
  };
  expect(await read({}, development)).toEqual({ postgres: { variables: {} } });
  expect(await read({}, { dependencies: { "better-sqlite3": "12" } })).toEqual({});
  expect(await read({}, { dependencies: { express: "5" }, scripts: { migrate: "node migrate.js" } })).toEqual({});
});

test("a start command that migrates is not preceded by a migration", async () => {
  const packageJson = { dependencies: { pg: "8" }, scripts: { migrate: "node migrate.js" } };
  expect(await read({}, packageJson, "npm run migrate && node server.js")).toEqual({ postgres: { variables: {} } });
});

test("the release process of a Procfile comes first", async () => {
  const packageJson = { dependencies: { pg: "8" }, scripts: { migrate: "node migrate.js" } };
  const { migration } = await read({ Procfile: "web: node server.js\nrelease: node release.js\n" }, packageJson);
  expect(migration).toBe("node release.js");
});

test("a script that needs an argument runs with the one that the README names, and otherwise not at all", async () => {
  const packageJson = { dependencies: { pg: "8" }, scripts: { migrate: "node ./bin/migrate.js" } };
  const script = { "bin/migrate.js": "const [command] = process.argv.slice(2);\nset[command]();" };
  const postgres = { variables: {} };
  const readme = { "README.md": "`npm run migrate down` rolls back, `npm run migrate up` runs the migrations." };
  expect(await read({ ...script, ...readme }, packageJson)).toEqual({ postgres, migration: "npm run migrate -- up" });
  expect(await read(script, packageJson)).toEqual({ postgres, incompleteMigration: "migrate" });
  const flags = { "bin/migrate.js": "run({ seed: process.argv.slice(2).includes('--seed') });" };
  expect(await read(flags, packageJson)).toEqual({ postgres, migration: "npm run migrate" });
});

test("the example files of a project name the variables of its database", async () => {
  const example = `
DB_HOST=localhost
export DB_PORT="5432"
DATABASE_USERNAME=root
DB_PASSWORD=secret
POSTGRES_DB=app
DATABASE_TYPE=postgres
DB_DIALECT="postgresql"
TYPEORM_URL=postgres://localhost/app
DB_POOL=5
SMTP_HOST=mail.example.com
API_URL=http://localhost`;
  const { postgres } = await read({ "env-example-relational": example }, { dependencies: { pg: "8" } });
  expect(postgres?.variables).toEqual({
    DB_HOST: "host",
    DB_PORT: "port",
    DATABASE_USERNAME: "user",
    DB_PASSWORD: "password",
    POSTGRES_DB: "database",
    DATABASE_TYPE: "postgres",
    DB_DIALECT: "postgresql",
    TYPEORM_URL: "url",
  });
});

test("committed settings name the variables of a database on a developer's machine, and keep a database elsewhere", async () => {
  const settings = (host: string) => `DB_HOST=${host}\nDB_USER="me"\nDB_PASSWORD='s#cret'\nAPI_PORT=8000`;
  const packageJson = { dependencies: { pg: "8" } };
  const local = { DB_HOST: "host", DB_USER: "user", DB_PASSWORD: "password" };
  for (const host of ["localhost", "127.0.0.1", "postgres", ""])
    expect((await read({ ".env": settings(host) }, packageJson)).postgres?.variables).toEqual(local);
  expect((await read({ ".env": settings("db.example.com") }, packageJson)).postgres?.variables).toEqual({});
  const url = "DB_URL=postgres://me:secret@db.example.com:5432/app";
  expect((await read({ ".env.production": url }, packageJson)).postgres?.variables).toEqual({});
});

test("in a workspace, the package that has the schema is migrated in its own folder", async () => {
  await using folder = await givenFiles({
    "packages/db/prisma/schema.prisma": SCHEMA,
    "packages/db/prisma/migrations/migration_lock.toml": "",
    "packages/db/package.json": `{ "name": "@acme/db" }`,
    "packages/db/node_modules/.bin/prisma": "",
    "apps/web/package.json": "{}",
  });
  await mkdir("apps/web/node_modules/@acme", { recursive: true });
  await symlink(path.join(folder.path, "packages/db"), "apps/web/node_modules/@acme/db");
  process.chdir("apps/web");
  expect(readServerDatabase({ dependencies: { "@acme/db": "workspace:*" } }, "next start")).toEqual({
    postgres: { variables: { POOLED_URL: "url", DIRECT_URL: "url" } },
    migration: `cd ../../packages/db && PATH="$PWD/node_modules/.bin:$PATH" prisma migrate deploy --schema prisma/schema.prisma`,
  });
});

test("a SQLite database with a default path where it would not stay is kept in /data", async () => {
  const files = {
    "src/persistence/sqlite.js": `const location = process.env.SQLITE_DB_LOCATION || '/etc/todos/todo.db';`,
    "src/cache.ts": `open(process.env["CACHE"] ?? "/tmp/cache.db"); open(process.env.HOST || "/etc/hosts");`,
    "src/relative.ts": `
      new Database(process.env.NOTES_FILE ?? "./data/notes.sqlite");
      createClient({ url: process.env.LIBSQL_FILE || "file:local.db" });
      open(process.env.SEEDS || "seeds.db");
      const name = process.env.NAME || "name.db";
      open(path.join(
        __dirname,
        process.env.BESIDE || "../beside.db",
      ));`,
    "seeds.db": "",
    "node_modules/other/index.js": `process.env.OTHER || "/var/lib/other.db"`,
  };
  await using _folder = await givenFiles(files);
  const server = { command: "node src/index.js", database: { migration: "node migrate.js" } };
  const setting =
    'export NOTES_FILE="${NOTES_FILE:-/data/data-notes.sqlite}" LIBSQL_FILE="${LIBSQL_FILE:-file:/data/local.db}" SQLITE_DB_LOCATION="${SQLITE_DB_LOCATION:-/data/todo.db}"';
  expect(keepDatabasesInData(server, { dependencies: { sqlite3: "5.1.7" } })).toEqual({
    command: `${setting}; node src/index.js`,
    database: { migration: `${setting}; node migrate.js` },
  });
  expect(keepDatabasesInData(server, { dependencies: { mysql2: "3.0.0" } })).toBe(server);
});
