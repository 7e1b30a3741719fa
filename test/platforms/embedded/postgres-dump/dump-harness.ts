import pg from "pg";
import { appsPostgres } from "../../../../server/composition/edge.ts";
import { AppPostgres } from "../../../../server/platforms/embedded/postgres/app-postgres.ts";
import { exportDatabase } from "../../../../server/platforms/embedded/postgres/dump/export-database.ts";
import { importDatabase } from "../../../../server/platforms/embedded/postgres/dump/import-database.ts";
import type { PostgresServer } from "../../../../server/ports/postgres.ts";
import { createLogger } from "../../../../server/telemetry/logger.ts";
import { memoryFolder } from "../../../support/memory-folder.ts";

/** The files of a dump, by their names. */
export type Dump = Record<string, Buffer>;

/** A server for the databases of apps, whose databases are exported and imported. */
export class DumpHarness implements AsyncDisposable {
  readonly server: PostgresServer;
  readonly postgres: AppPostgres;
  readonly #resources: AsyncDisposableStack;
  #databases = 0;

  private constructor(server: PostgresServer, postgres: AppPostgres, resources: AsyncDisposableStack) {
    this.server = server;
    this.postgres = postgres;
    this.#resources = resources;
  }

  static async open(): Promise<DumpHarness> {
    await using opening = new AsyncDisposableStack();
    const log = createLogger("silent");
    const { path: dataDirectory } = opening.use(await memoryFolder());
    const server = await appsPostgres({ appsDatabaseUrl: null, databaseUrl: null, dataDirectory }, log).open();
    const postgres = opening.use(new AppPostgres({ open: async () => server, exists: () => true, log }));
    return new DumpHarness(server, postgres, opening.move());
  }

  /** Returns an id that no database has. */
  newId(): string {
    return `database-${this.#databases++}`;
  }

  /** Connects as the role of the app. */
  async connect(id: string): Promise<pg.Client> {
    const { name, password } = await this.postgres.open(id);
    const url = new URL(this.server.url);
    Object.assign(url, { username: name, password, pathname: `/${name}` });
    return this.#connectTo(url.href);
  }

  /** Connects as the superuser. */
  connectAsSuperuser(database?: string): Promise<pg.Client> {
    const url = new URL(this.server.url);
    if (database !== undefined) url.pathname = `/${database}`;
    return this.#connectTo(url.href);
  }

  async #connectTo(connectionString: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString });
    client.on("error", () => undefined);
    await client.connect();
    this.#resources.defer(() => client.end());
    return client;
  }

  async export(id: string, signal = AbortSignal.timeout(120_000)): Promise<Dump> {
    using exporter = await this.postgres.openExporter(id);
    const dump: Dump = {};
    if (exporter === null) return dump;
    for await (const { name, content } of exportDatabase(exporter, signal)) dump[name] = await readAll(content);
    return dump;
  }

  /** @returns the id of the new database */
  async import(
    dump: Readonly<Record<string, Buffer | string>>,
    { id = this.newId(), maxBytes = 2 ** 40, signal = AbortSignal.timeout(120_000) } = {},
  ): Promise<string> {
    const files = Object.entries(dump).toSorted(([a], [b]) => (a < b ? -1 : 1));
    async function* read() {
      for (const [name, content] of files) yield { name, content: chunksOf(Buffer.from(content)) };
    }
    await this.postgres.replace(id, { maxBytes, signal }, (database, bounded) =>
      importDatabase(database, read(), bounded),
    );
    return id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

async function readAll(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
