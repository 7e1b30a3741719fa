import path from "node:path";
import type { AuthEntries } from "../../../domain/ports/auth-entries.ts";
import { EmbeddedEdgePlatform } from "./scripts/script-publisher.ts";
import type { IsolatedRuntime } from "../../../domain/ports/isolated-runtime.ts";
import { ScriptStore } from "./scripts/script-store.ts";
import { WorkerdLauncher } from "./workerd/workerd-launcher.ts";
import { databaseDirectory, EmbeddedSqlDatabases } from "./databases/sql-databases.ts";
import { trustedPeers } from "../../http/client-address.ts";
import { lockFolder } from "../../files/folder-lock.ts";
import { databaseWorkers } from "./databases/database-worker.ts";
import type { EdgeLog } from "./edge-log.ts";
import { EdgeProxy } from "./proxy/edge-proxy.ts";
import { WorkerdIsolatedRuntime } from "./workerd/isolated-runtime.ts";
import { Supervisor, type SupervisorOptions } from "./supervisor/supervisor.ts";

export interface EmbeddedEdgeOptions {
  /** Everything the edge keeps; only one process may use it at a time. */
  root: string;
  /** Where the front door listens; port 0 takes a free one. */
  host: string;
  port: number;
  /** The domain below which apps live, with its port if any; `null` for `localhost:<the bound port>`. */
  appsDomain: string | null;
  /** How visitors reach the apps; `https` when something in front of the edge ends TLS. */
  scheme: "http" | "https";
  sandbox: "bubblewrap" | "none";
  /** From which addresses it is believed for whom a request comes. */
  trustedProxies: readonly string[];
  entries: AuthEntries;
  log: EdgeLog;
  limits?: Partial<SupervisorOptions & { startTimeoutMs: number; closeGraceMs: number }>;
}

const DEFAULT_LIMITS = {
  maxActive: 40,
  idleMs: 60_000,
  hangMs: 10_000,
  residentMb: 768,
  drainMs: 5_000,
  startTimeoutMs: 10_000,
  closeGraceMs: 10_000,
};

export interface RunningEdge extends AsyncDisposable {
  platform: EmbeddedEdgePlatform;
  databases: EmbeddedSqlDatabases;
  supervisor: Supervisor;
  isolatedRuntime: IsolatedRuntime;
  /** The port the front door listens on. */
  port: number;
  /** Lets requests in flight finish for a while, then ends every process. */
  close(): Promise<void>;
}

/**
 * Opens the embedded edge: takes its folder, clears what a crash left, and listens.
 *
 * @throws when another process has the folder, or the port is taken
 */
export async function openEmbeddedEdge(options: EmbeddedEdgeOptions): Promise<RunningEdge> {
  const { root, entries, log } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const lock = lockFolder(root);
  const databaseRoot = path.join(root, "databases");
  const store = new ScriptStore(root);
  const launcher = new WorkerdLauncher({
    launchRoot: path.join(root, "run"),
    sandbox: options.sandbox,
    startTimeoutMs: limits.startTimeoutMs,
  });
  const supervisor = new Supervisor({
    store,
    launcher,
    databaseDirectory: (id) => databaseDirectory(databaseRoot, id),
    options: limits,
    log,
  });
  const databases = new EmbeddedSqlDatabases({
    root: databaseRoot,
    holder: supervisor,
    startWorker: databaseWorkers(launcher),
  });
  const trusts = trustedPeers(options.trustedProxies);
  const edgeProxy = new EdgeProxy({ apps: supervisor, entries, log, trusts, scheme: options.scheme });
  const close = once(async () => {
    await edgeProxy.close(limits.closeGraceMs);
    await supervisor.close();
    lock.release();
  });
  try {
    await Promise.all([store.open(), launcher.open(), databases.open()]);
    const port = await edgeProxy.listen(
      options.port,
      options.host,
      (options.appsDomain ?? "localhost").replace(/:\d+$/, ""),
    );
    const domain = options.appsDomain ?? `localhost:${port}`;
    const platform = new EmbeddedEdgePlatform({
      store,
      apps: supervisor,
      urlOf: (slug) => `${options.scheme}://${slug}.${domain}`,
    });
    const isolatedRuntime = new WorkerdIsolatedRuntime(launcher);
    return { platform, databases, supervisor, isolatedRuntime, port, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= work());
}
