import { z } from "zod";
import {
  type AppDatabase,
  type AppDatabases,
  DATABASE_LIMITS,
  type DatabaseQuery,
  type QueryResult,
} from "../../../domain/ports/app-databases.ts";
import type { StoredApp } from "../../../domain/ports/app-storage.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { describeD1, queryD1, type RawResult } from "../shared/d1-reader.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { CloudflareError } from "./cloudflare-error.ts";
import { type NamespaceScripts, readTags } from "./namespace-scripts.ts";

const NAME = "main";
const SQL_ERROR = 7500;
const database = z.object({ file_size: z.coerce.number().nullish() });
const rawResults = z.array(
  z.object({
    results: z.object({ columns: z.array(z.string()).default([]), rows: z.array(z.array(z.unknown())).default([]) }),
    meta: z.looseObject({ duration: z.number().optional() }).nullish(),
  }),
);

/** Reads the D1 databases of apps through Cloudflare's API. */
export class CloudflareAppDatabases implements AppDatabases {
  readonly #client: CloudflareClient;
  readonly #scripts: NamespaceScripts;

  constructor({ client, scripts }: { client: CloudflareClient; scripts: NamespaceScripts }) {
    this.#client = client;
    this.#scripts = scripts;
  }

  async describe(app: StoredApp, name: string | null, signal: AbortSignal): Promise<AppDatabase | null> {
    const uuid = await this.#find(app);
    if (uuid === null) return null;
    requireName(name);
    const path = `d1/database/${uuid}`;
    const request = { operation: "read the size of a database", method: "GET", path, signal } as const;
    const { file_size: bytes } = await this.#client.call(request, database);
    const described = await describeD1((statements) => this.#run(uuid, statements, signal), signal);
    return { kind: "sqlite", name: NAME, names: [NAME], bytes: bytes ?? 0, ...described };
  }

  async query(app: StoredApp, name: string | null, query: DatabaseQuery, signal: AbortSignal): Promise<QueryResult> {
    const uuid = await this.#find(app);
    if (uuid === null) throw new ServiceError("not_found", "The app has no database.");
    requireName(name);
    return queryD1((statements) => this.#run(uuid, statements, signal), query, signal).catch((error: unknown) => {
      if (!(error instanceof CloudflareError) || !error.hasCode(SQL_ERROR)) throw error;
      throw new ServiceError("invalid", `sql: ${error.errors.map(({ message }) => message).join(" ")}`);
    });
  }

  async #run(uuid: string, statements: readonly string[], signal: AbortSignal): Promise<RawResult[]> {
    const body = { batch: statements.map((sql) => ({ sql })) };
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(DATABASE_LIMITS.statementMs)]);
    const path = `d1/database/${uuid}/raw`;
    const request = { operation: "read a database", method: "POST", path, body, isRead: true } as const;
    const found = await this.#client.call({ ...request, signal: timeout }, rawResults);
    return found.map(({ results, meta }) => ({ ...results, durationMs: meta?.duration ?? 0 }));
  }

  /** Cloudflare's id of the database; `null` if the live version of the app has none. */
  async #find({ slug, appId }: StoredApp): Promise<string | null> {
    const live = await this.#scripts.settings(slug);
    if (live === null || readTags(live.tags)?.appId !== appId) return null;
    const binding = live.bindings.find(({ type }) => type === "d1");
    return binding === undefined ? null : String(binding["id"] ?? binding["database_id"]);
  }
}

function requireName(name: string | null): void {
  if (name !== null && name !== NAME) throw new ServiceError("not_found", `database: the app has only "${NAME}".`);
}
