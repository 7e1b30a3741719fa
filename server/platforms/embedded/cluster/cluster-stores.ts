import { createHmac, randomUUID } from "node:crypto";
import path from "node:path";
import type { SqliteReader } from "../app-databases/sqlite-reader.ts";
import { databaseWorkerStarter } from "../databases/database-worker.ts";
import { databaseDirectory } from "../databases/sql-databases.ts";
import type { CreateStores } from "../edge-stores.ts";
import type { AppPostgres } from "../postgres/app-postgres.ts";
import { ScriptStore } from "../scripts/script-store.ts";
import { readDeclaredStores } from "../storage/embedded-app-entries.ts";
import { type MeasureApp, measureServerData } from "../storage/embedded-app-storage.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import type { PlatformLog } from "../supervisor/supervisor-options.ts";
import type { BucketForwarder } from "./bucket-forwarder.ts";
import { ClusterDataFolders } from "./app-data/cluster-data-folders.ts";
import { ClusterSqlDatabases } from "./cluster-databases.ts";
import { ClusterLauncher, type ClusterLauncherOptions } from "./cluster-launcher.ts";
import { ClusterAppEntries, clusterDatabaseReader } from "./cluster-readers.ts";
import { DataSnapshots, type FolderArchiver } from "./server-leases/data-snapshots.ts";
import type { LeaseTimes } from "./server-leases/held-lease.ts";
import { ServerLeases } from "./server-leases/server-leases.ts";
import { lostLeasesMs } from "./lost-members.ts";
import type { SharedBucket } from "./shared-bucket.ts";
import { SharedAuthEntries } from "./shared-auth-entries.ts";
import { SharedScripts } from "./shared-scripts.ts";
import { measureStoredData } from "./stored-data.ts";

export interface ClusterStoresOptions extends Pick<
  ClusterLauncherOptions,
  "sandbox" | "groups" | "startLimitMs" | "secret" | "host" | "timeDivisor"
> {
  bucket: SharedBucket;
  /** The same bucket, with requests that fail soon: leases are renewed every few seconds. */
  leaseBucket: SharedBucket;
  createArchiver: (options: { sqlite: SqliteReader; workFolder: string }) => FolderArchiver;
  leaseTimes?: LeaseTimes;
  /** Of this edge, for the buckets of its processes. */
  forwarder: BucketForwarder;
}

/** How often an edge looks whether its running apps have been changed on another edge, in milliseconds. */
const FOLLOW_MS = 1_000;

const LEASE_TIMES: LeaseTimes = { renewMs: 5_000, killMs: 15_000, validMs: 22_000, snapshotMs: 30_000 };

/** The apps of all edges, and the data of Workers, in the bucket. */
export function clusterStores({ bucket, forwarder, ...options }: ClusterStoresOptions): CreateStores {
  return ({ root, launchRoot, launcher: temporary, unpack, postgres, sqlite, log }) => {
    const databaseRoot = path.join(root, "databases");
    const directoryOf = (id: string) => databaseDirectory(databaseRoot, id);
    const local = new ScriptStore(root, unpack);
    const scripts = new SharedScripts({ bucket, local, workFolder: path.join(root, "versions"), log });
    const launcher = new ClusterLauncher({ ...options, launcher: temporary, launchRoot, bucket, forwarder });
    const workFolder = path.join(root, "snapshots");
    const archiver = options.createArchiver({ sqlite, workFolder });
    const snapshots = new DataSnapshots({ bucket, archiver, unpack, workFolder, log });
    const { leaseBucket, leaseTimes: times = LEASE_TIMES } = options;
    const placement = new ServerLeases({ bucket: leaseBucket, snapshots, times, log });
    const startWorker = databaseWorkerStarter(launcher);
    let timer: NodeJS.Timeout | undefined;
    return {
      scripts,
      launcher,
      authEntries: new SharedAuthEntries({ bucket, log }),
      appEntries: new ClusterAppEntries({ launcher, scripts }),
      measure: storedMeasure(bucket, postgres),
      databaseDirectory: directoryOf,
      async findWorkerDatabase(databaseId) {
        const stored = await measureStoredData(bucket, databaseId, []);
        if (stored.sql === 0) return null;
        return clusterDatabaseReader({ launcher, databaseId }, async () => stored.sql);
      },
      placement,
      dataFolders: new ClusterDataFolders({ bucket, launcher, localLauncher: temporary, leases: placement }),
      forwardingSecret: createHmac("sha256", options.secret).update("forwarded-requests").digest("hex"),
      openDatabases: () => new ClusterSqlDatabases({ bucket, startWorker, postgres }),
      isDisturbed: async (databaseId) => (await lostLeasesMs(bucket, databaseId)) > 0,
      async open() {
        await Promise.all([scripts.open(), temporary.open(), snapshots.open()]);
      },
      follow(apps, port) {
        placement.start({ id: randomUUID(), host: options.host, port }, apps);
        timer = setInterval(() => void stopOutdated(apps, log), FOLLOW_MS);
      },
      async close() {
        clearInterval(timer);
        await launcher.close();
      },
    };
  };
}

async function stopOutdated(apps: Supervisor, log: PlatformLog): Promise<void> {
  for (const slug of apps.active)
    await apps.stopOutdated(slug).catch((err: unknown) => {
      log.warn({ slug, err }, "the edge could not check whether an app has changed");
    });
}

/** Measures what apps have in the bucket, and the data of Node servers. */
function storedMeasure(bucket: SharedBucket, postgres: AppPostgres): MeasureApp {
  return async (version, stopAtBytes) => {
    const stored = await measureStoredData(bucket, version.databaseId, await readDeclaredStores(version));
    return { ...stored, sql: stored.sql + (await measureServerData(version, postgres, stopAtBytes)) };
  };
}
