/** What recognises callers, without a server around it: the same parts that the service is made of. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import pg from "pg";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import { readConfig } from "../../server/config.ts";
import { openDatabase } from "../../server/database/open-database.ts";
import type { Orm } from "../../server/database/orm.ts";
import { MemoryChangeFeed } from "../../server/drivers/change-feed/memory.ts";
import { MemoryCounter } from "../../server/drivers/counter/memory.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { openIdentityServices } from "../../server/composition/identity.ts";
import { serve } from "../support/serve-commands.ts";

export interface VerifierOptions {
  databaseUrl: string;
}

export type VerifierCommands = Awaited<ReturnType<typeof open>>["commands"];

const PUBLIC_URL = "http://127.0.0.1:3000";
const ADDRESS = "127.0.0.1";

async function open({ databaseUrl }: VerifierOptions) {
  const config = readConfig({ DATABASE_URL: databaseUrl, LOG_LEVEL: "silent" });
  const { orm } = await openDatabase(config, createLogger("silent"));
  const accessChanges = new MemoryChangeFeed();
  const { authenticator, auth } = openIdentityServices({
    ...{ orm, config, accessChanges, counter: new MemoryCounter(), tokenSecret: randomBytes(32).toString("hex") },
    ...{ publicUrl: () => PUBLIC_URL, log: createLogger(config.logLevel), clientMetadata: null },
  });
  const founding = { name: "Bench", email: null, plan: "scale" };
  const bootstrapped = await orm.em.fork().transactional((em) => createOrganization(em, founding));
  const tokens = { key: bootstrapped.api_key, jwt: await signedIn(async (request) => (await auth()).handler(request)) };
  const statements = watchStatements();
  const verify = async (token: keyof typeof tokens): Promise<void> => {
    assert.notEqual(await authenticator.authenticate(`Bearer ${tokens[token]}`, ADDRESS), null, "it is a good token");
  };
  const commands = {
    /** Other tokens and members, so that looking at all of them would be slow. */
    fill: (rows: number) => fill(orm, rows),
    /** The CPU time of this process that one verification took, in microseconds, and the time that passed. */
    measure: async (token: keyof typeof tokens, count: number, remember: boolean) => {
      const [cpu, from] = [process.cpuUsage(), performance.now()];
      for (let at = 0; at < count; at++) {
        if (!remember) accessChanges.announce("");
        await verify(token);
      }
      const { user, system } = process.cpuUsage(cpu);
      return { cpuUs: (user + system) / count, elapsedUs: ((performance.now() - from) * 1000) / count };
    },
    /** What a verification asks the database when nothing is remembered, and how it is looked up. */
    statements: async (token: keyof typeof tokens) => {
      accessChanges.announce("");
      statements.length = 0;
      await verify(token);
      const asked = statements.splice(0);
      const [first] = asked;
      assert.ok(first !== undefined);
      return { texts: asked.map(({ text }) => text), plan: await planOf(databaseUrl, first) };
    },
  };
  return { commands, close: () => orm.close() };
}

async function fill(orm: Orm, rows: number): Promise<void> {
  const em = orm.em.fork();
  await em.execute(
    `insert into machine_tokens (id, kind, token_sha256, prefix, name, org_id, user_id, created_at)
     select gen_random_uuid(), 'api_key', md5(n::text) || md5((-n)::text), 'svk_', 'x', gen_random_uuid(), gen_random_uuid(), now()
     from generate_series(1, ?) n`,
    [rows],
  );
  await em.execute(
    `with people as (
       insert into auth."user" (name, email, "emailVerified")
       select 'x', n || '@example.com', false from generate_series(1, ?) n returning id)
     insert into auth.member ("organizationId", "userId", role, "createdAt")
     select organization.id, people.id, 'member', now() from people, auth.organization`,
    [rows],
  );
  await em.execute("analyze");
}

async function planOf(databaseUrl: string, { text, values }: Statement): Promise<string[]> {
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

/** Every statement that this process sends from now on. */
function watchStatements(): Statement[] {
  const sent: Statement[] = [];
  const { query } = pg.Client.prototype;
  const watching = function (this: pg.Client, ...input: unknown[]): unknown {
    const [first, second] = input as [string | { text: string; values?: unknown[] }, unknown];
    if (typeof first === "string") sent.push({ text: first, values: Array.isArray(second) ? second : [] });
    else sent.push({ text: first.text, values: first.values ?? [] });
    return Reflect.apply(query, this, input);
  };
  pg.Client.prototype.query = watching as never;
  return sent;
}

/** The access token of somebody who signs up. */
async function signedIn(handler: (request: Request) => Promise<Response>): Promise<string> {
  const person = { name: "Ada", email: "ada@example.com", password: randomBytes(18).toString("base64url") };
  const headers = { "content-type": "application/json", origin: PUBLIC_URL };
  const signUp = { method: "POST", headers, body: JSON.stringify(person) };
  const answer = await handler(new Request(`${PUBLIC_URL}/api/auth/sign-up/email`, signUp));
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
  const token = await handler(new Request(`${PUBLIC_URL}/api/auth/token`, { headers: { cookie } }));
  return ((await token.json()) as { token: string }).token;
}

await serve(open);
