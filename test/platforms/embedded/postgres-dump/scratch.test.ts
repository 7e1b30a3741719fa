import pg from "pg";
import { afterAll, beforeAll, test } from "vitest";
import { appsPostgres } from "../../../../server/composition/edge.ts";
import { AppPostgres } from "../../../../server/platforms/embedded/postgres/app-postgres.ts";
import { exportDatabase } from "../../../../server/platforms/embedded/postgres/dump/export-database.ts";
import { importDatabase } from "../../../../server/platforms/embedded/postgres/dump/import-database.ts";
import type { PostgresServer } from "../../../../server/ports/postgres.ts";
import { createLogger } from "../../../../server/telemetry/logger.ts";
import { memoryFolder } from "../../../support/memory-folder.ts";

const resources = new AsyncDisposableStack();
const log = createLogger("silent");
let server: PostgresServer;
let postgres: AppPostgres;
beforeAll(async () => {
  const { path: dataDirectory } = resources.use(await memoryFolder());
  server = await appsPostgres({ appsDatabaseUrl: null, databaseUrl: null, dataDirectory }, log).open();
  postgres = resources.use(new AppPostgres({ open: async () => server, exists: () => true, log }));
});
afterAll(() => resources.disposeAsync());

async function connect(id: string): Promise<pg.Client> {
  const { name, password } = await postgres.open(id);
  const url = new URL(server.url);
  Object.assign(url, { username: name, password, pathname: `/${name}` });
  const client = new pg.Client({ connectionString: url.href });
  client.on("error", () => {});
  await client.connect();
  resources.defer(() => client.end());
  return client;
}

test("x", async () => {
  const client = await connect("a");
  await client.query(`create table "T\n;x" (id serial primary key, n text default 'x', g int generated always as (1) stored);
   insert into "T\n;x"(n) select 'a\tb\n' || n from generate_series(1,1000) n; create materialized view m as select count(*) from "T\n;x";
   create policy p on "T\n;x" to current_user using (true)`);
  const signal = AbortSignal.timeout(60_000);
  const files: { name: string; text: string }[] = [];
  using reader = (await postgres.openExporter("a"))!;
  const t = performance.now();
  for await (const { name, content } of exportDatabase(reader, signal)) {
    let text = "";
    for await (const chunk of content) text += String(Buffer.from(chunk));
    files.push({ name, text });
  }
  console.log(performance.now() - t, files.map(({ name, text }) => `== ${name}\n${text.slice(0, 3000)}`).join("\n"));
  async function* given() {
    for (const { name, text } of files)
      yield {
        name,
        content: (async function* () {
          yield Buffer.from(text);
        })(),
      };
  }
  await postgres.replace("b", { maxBytes: 1e9, signal }, (database, bounded) =>
    importDatabase(database, given(), bounded),
  );
  const target = await connect("b");
  console.log(
    (await target.query(`select count(*), (select count from m), nextval('"T\n;x_id_seq"') from "T\n;x"`)).rows,
  );
});
