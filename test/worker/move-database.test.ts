import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { moveDatabase } from "../../server/admin/move-database.ts";
import { openDatabase } from "../../server/database/open-database.ts";
import { type Em, openOrm } from "../../server/database/orm.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createHarness } from "../support/service/harness.ts";
import { createEmptyDatabase } from "../support/service/test-databases.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The rows of each table as text, but those of the queue and of the migrations, with all foreign keys and triggers. */
async function readRows(em: Em): Promise<Record<string, string>> {
  const tables = await em.execute<{ name: string }[]>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('public', 'auth') and tablename <> 'mikro_orm_migrations' order by 1`,
  );
  const rows: Record<string, string> = {};
  for (const { name } of tables) {
    const found = await em.execute<{ text: string }[]>(`select t::text as text from ${name} t order by 1`);
    if (found.length > 0) rows[name] = found.map(({ text }) => text).join("\n");
  }
  const rules = await em.execute<{ text: string }[]>(
    `select concat(conrelid::regclass, conname, pg_get_constraintdef(oid)) as text from pg_constraint where contype = 'f'
      union all select concat(tgrelid::regclass, tgname, tgenabled) from pg_trigger where not tgisinternal order by 1`,
  );
  return { ...rows, rules: rules.map(({ text }) => text).join("\n") };
}

test("move-database copies every row and the waiting jobs to DATABASE_URL, where the service continues", async () => {
  await using stack = new AsyncDisposableStack();
  const dataDirectory = stack.use(await temporaryFolder()).path;
  const { databaseUrl } = stack.use(await createEmptyDatabase());
  let user: TestUser;
  let port: number;
  {
    // Without a worker, the deployment waits.
    await using harness = await createHarness({ config: { dataDirectory, databaseUrl: null, redisUrl: null } });
    ({ port } = harness.service);
    const rest = new RestClient(harness.service.publicUrl, harness.service.bootstrapped?.api_key ?? "");
    expect((await rest.deploy({ repo: "acme/waiting" })).status).toBe(201);
    user = new TestUser(harness.service.publicUrl);
    await user.signUp();
    await user.accessToken();
    await expect(moveDatabase({ dataDirectory, databaseUrl })).rejects.toThrow("is in use");
  }
  const tokenSecret = (await readFile(path.join(dataDirectory, "secrets/token-secret"), "utf8")).trim();
  await expect(moveDatabase({ dataDirectory, databaseUrl: null })).rejects.toThrow("Set DATABASE_URL");
  const empty = path.join(dataDirectory, "empty");
  await expect(moveDatabase({ dataDirectory: empty, databaseUrl })).rejects.toThrow("has no embedded database");
  expect(await moveDatabase({ dataDirectory, databaseUrl })).toMatchObject({ tables: expect.any(Number), jobs: 1 });
  await expect(moveDatabase({ dataDirectory, databaseUrl })).rejects.toThrow("has organizations already");
  expect(existsSync(path.join(dataDirectory, "database"))).toBe(true);
  const orm = stack.adopt(openOrm(databaseUrl), (opened) => opened.close());
  const log = createLogger("silent");
  {
    await using source = await openDatabase({ dataDirectory, databaseUrl: null }, log);
    const rows = await readRows(source.orm.em.fork());
    expect(Object.keys(rows)).toEqual(expect.arrayContaining(["public.apps", "auth.jwks", "auth.organization"]));
    expect(await readRows(orm.em.fork())).toEqual(rows);
  }
  const config = { dataDirectory, databaseUrl, redisUrl: null, tokenSecret, port };
  await using harness = await createHarness({ worker: true, config });
  const returning = new TestUser(harness.service.publicUrl, user.email);
  expect((await returning.signIn()).status).toBe(200);
  const rest = new RestClient(harness.service.publicUrl, await returning.accessToken());
  const { body } = await rest.get("/v1/apps");
  const [app] = body["apps"] as { id: string }[];
  // The repository does not exist.
  expect((await harness.waitForStatus({ rest }, app!.id)).body["status"]).toBe("failed");
});
