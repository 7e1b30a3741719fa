/** `GET /v1/apps` written by hand for speed only: one route and two queries, without layers. */
import type { AddressInfo } from "node:net";
import { createHash } from "node:crypto";
import { fastify } from "fastify";
import pg from "pg";
import { appToken } from "../../domain/apps/app-token.ts";
import { serveCommands } from "../support/serve-commands.ts";

export interface HandWrittenListOptions {
  databaseUrl: string;
  tokenSecret: string;
  /** The URL of an app, with `SLUG` instead of its slug. */
  appUrl: string;
}

export type HandWrittenListCommands = Awaited<ReturnType<typeof open>>["commands"];

const TOKEN_QUERY = `select org_id from machine_tokens where token_sha256 = $1 and kind = 'api_key'
  and revoked_at is null and (expires_at is null or expires_at > now())`;
const APPS_QUERY = `select id, name, slug, status, status_message, runtime, token_version, created_at, updated_at,
  repo, branch, manifest->>'framework' as framework
  from apps where org_id = $1 order by created_at desc, id`;

interface AppRow {
  id: string;
  name: string;
  slug: string;
  status: string;
  status_message: string | null;
  runtime: string | null;
  token_version: number;
  created_at: Date;
  updated_at: Date;
  repo: string;
  branch: string;
  framework: string | null;
}

async function open({ databaseUrl, tokenSecret, appUrl }: HandWrittenListOptions) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  const app = fastify();
  app.get("/v1/apps", async (request, reply) => {
    const token = request.headers.authorization?.slice("Bearer ".length) ?? "";
    const tokens = await pool.query<{ org_id: string }>(TOKEN_QUERY, [
      createHash("sha256").update(token).digest("hex"),
    ]);
    if (!tokens.rows[0]) return reply.code(401).send({ error: "Missing or invalid token" });
    const { rows } = await pool.query<AppRow>(APPS_QUERY, [tokens.rows[0].org_id]);
    return { apps: rows.map((row) => toSummary(row, tokenSecret, appUrl)) };
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    await app.close();
    await pool.end();
  };
  return { commands: { publicUrl: () => `http://127.0.0.1:${port}` }, close };
}

function toSummary(row: AppRow, tokenSecret: string, appUrl: string) {
  const { token_version: tokenVersion, created_at, updated_at, repo, branch, framework, ...fields } = row;
  return {
    ...fields,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
    app_token: appToken(tokenSecret, { id: row.id, tokenVersion }),
    url: appUrl.replace("SLUG", row.slug),
    repo,
    branch,
    framework,
  };
}

await serveCommands(open);
