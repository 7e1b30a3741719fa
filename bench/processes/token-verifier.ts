/** The token verification of the service, without a server. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import pg from "pg";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import { readConfig } from "../../server/config.ts";
import { openDatabase } from "../../server/database/open-database.ts";
import type { Orm } from "../../server/database/orm.ts";
import { MemoryChangeFeed } from "../../server/drivers/change-feed/memory-change-feed.ts";
import { HttpsMetadataFetcher } from "../../server/drivers/client-metadata/https-metadata-fetcher.ts";
import { MemoryCounter } from "../../server/drivers/counter/memory-counter.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { openIdentityServices } from "../../server/composition/identity.ts";
import { serveCommands } from "../support/serve-commands.ts";

export interface TokenVerifierOptions {
  databaseUrl: string;
}

export type TokenVerifierCommands = Awaited<ReturnType<typeof open>>["commands"];

const PUBLIC_URL = "http://127.0.0.1:3000";
const ADDRESS = "127.0.0.1";

async function open({ databaseUrl }: TokenVerifierOptions) {
  const tokenSecret = randomBytes(32).toString("hex");
  const settings = { DATABASE_URL: databaseUrl, TOKEN_SECRET: tokenSecret, CLIENT_METADATA_DOCUMENTS: "off" };
  const config = readConfig({ ...settings, LOG_LEVEL: "silent" });
  const { orm } = await openDatabase(config, createLogger("silent"));
  const accessChanges = new MemoryChangeFeed();
  const deps = {
    orm,
    config,
    accessChanges,
    counter: new MemoryCounter(),
    tokenSecret,
    publicUrl: () => PUBLIC_URL,
    log: createLogger(config.logLevel),
    clientMetadataFetcher: new HttpsMetadataFetcher(),
  };
  const { authenticator, auth } = openIdentityServices(deps, new AsyncDisposableStack());
  const founding = { name: "Bench", email: null, plan: "scale" };
  const organization = await orm.em.fork().transactional((em) => createOrganization(em, founding));
  const tokens = {
    apiKey: organization.api_key,
    jwt: await signUp(async (request) => (await auth()).handler(request)),
  };
  const statements = recordStatements();
  const verify = async (token: keyof typeof tokens): Promise<void> => {
    assert.notEqual(await authenticator.authenticate(`Bearer ${tokens[token]}`, ADDRESS), null, "the token is valid");
  };
  const commands = {
    /** Inserts other tokens and members, so that a sequential scan would be slow. */
    insertOtherRows: (rows: number) => insertOtherRows(orm, rows),
    /** Returns the CPU time of this process and the elapsed time per verification, in microseconds. */
    measure: async (token: keyof typeof tokens, count: number, cached: boolean) => {
      const [cpu, from] = [process.cpuUsage(), performance.now()];
      for (let index = 0; index < count; index++) {
        if (!cached) accessChanges.announce("");
        await verify(token);
      }
      const { user, system } = process.cpuUsage(cpu);
      return { cpuUs: (user + system) / count, elapsedUs: ((performance.now() - from) * 1000) / count };
    },
    /** Returns the SQL statements of a verification without caches, and the plan of the first one. */
    explainVerification: async (token: keyof typeof tokens) => {
      accessChanges.announce("");
      statements.length = 0;
      await verify(token);
      const sent = statements.splice(0);
      const [first] = sent;
      assert.ok(first !== undefined);
      return { statements: sent.map(({ text }) => text), plan: await explain(databaseUrl, first) };
    },
  };
  return { commands, close: () => orm.close() };
}

async function insertOtherRows(orm: Orm, rows: number): Promise<void> {
  const em = orm.em.fork();
  await em.execute(
    `insert into machine_tokens (id, kind, token_sha256, prefix, name, org_id, user_id, created_at)
     select gen_random_uuid(), 'api_key', md5(n::text) || md5((-n)::text), 'svk_', 'x', gen_random_uuid(), gen_random_uuid(), now()
     from generate_series(1, ?) n`,
    [rows],
  );
  await em.execute(
    `with users as (
       insert into auth."user" (name, email, "emailVerified")
       select 'x', n || '@example.com', false from generate_series(1, ?) n returning id)
     insert into auth.member ("organizationId", "userId", role, "createdAt")
     select organization.id, users.id, 'member', now() from users, auth.organization`,
    [rows],
  );
  await em.execute("analyze");
}

async function explain(databaseUrl: string, { text, values }: Statement): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${text}`, values);
  await client.end();
  return rows.map((row) => row["QUERY PLAN"]);
}

interface Statement {
  text: string;
  values: unknown[];
}

/** Returns a list to which every statement is added that this process sends from now on. */
function recordStatements(): Statement[] {
  const sent: Statement[] = [];
  const { query } = pg.Client.prototype;
  const recordingQuery = function (this: pg.Client, ...input: unknown[]): unknown {
    const [first, second] = input as [string | { text: string; values?: unknown[] }, unknown];
    if (typeof first === "string") sent.push({ text: first, values: Array.isArray(second) ? second : [] });
    else sent.push({ text: first.text, values: first.values ?? [] });
    return Reflect.apply(query, this, input);
  };
  pg.Client.prototype.query = recordingQuery as never;
  return sent;
}

/** Signs up a user and returns an access token. */
async function signUp(handler: (request: Request) => Promise<Response>): Promise<string> {
  const user = { name: "Ada", email: "ada@example.com", password: randomBytes(18).toString("base64url") };
  const headers = { "content-type": "application/json", origin: PUBLIC_URL };
  const request = { method: "POST", headers, body: JSON.stringify(user) };
  const response = await handler(new Request(`${PUBLIC_URL}/api/auth/sign-up/email`, request));
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
  const tokenResponse = await handler(new Request(`${PUBLIC_URL}/api/auth/token`, { headers: { cookie } }));
  return ((await tokenResponse.json()) as { token: string }).token;
}

await serveCommands(open);
