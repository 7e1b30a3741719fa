import path from "node:path";
import { readUploadForm } from "../../shared/upload-form.ts";
import { declaredStores } from "../../shared/worker-bindings.ts";
import { databaseWorkerStarter } from "../databases/database-worker.ts";
import { databaseDirectory } from "../databases/sql-databases.ts";
import type { CreateStores } from "../edge-stores.ts";
import type { ScriptVersion } from "../script-version.ts";
import { ScriptStore } from "../scripts/script-store.ts";
import { measureServerData } from "../storage/embedded-app-storage.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import type { BucketForwarder } from "./bucket-forwarder.ts";
import { ClusterSqlDatabases } from "./cluster-databases.ts";
import { ClusterLauncher, type ClusterLauncherOptions } from "./cluster-launcher.ts";
import { ClusterAppEntries, clusterDatabaseReader } from "./cluster-readers.ts";
import type { SharedBucket } from "./shared-bucket.ts";
import { SharedAuthEntries } from "./shared-auth-entries.ts";
import { SharedScripts } from "./shared-scripts.ts";
import { measureStoredData } from "./stored-data.ts";

export interface ClusterStoresOptions extends Pick<
  ClusterLauncherOptions,
  "sandbox" | "groups" | "startTimeoutMs" | "secret" | "host" | "timeDivisor"
> {
  bucket: SharedBucket;
  /** Of this edge, for the buckets of its processes. */
  forwarder: BucketForwarder;
}

/** How often an edge looks whether its running apps have been changed on another edge, in milliseconds. */
const FOLLOW_MS = 1_000;

/** The apps of all edges, and the data of Workers, in the bucket. */
export function clusterStores({ bucket, forwarder, ...options }: ClusterStoresOptions): CreateStores {
  return ({ root, launchRoot, launcher: temporary, unpack, postgres, log }) => {
    const databaseRoot = path.join(root, "databases");
    const directoryOf = (id: string) => databaseDirectory(databaseRoot, id);
    const local = new ScriptStore(root, unpack);
    const scripts = new SharedScripts({ bucket, local, workFolder: path.join(root, "versions"), log });
    const launcher = new ClusterLauncher({ ...options, launcher: temporary, launchRoot, forwarder });
    const startWorker = databaseWorkerStarter(launcher);
    const measure = async (version: ScriptVersion, stopAtBytes: number) => {
      const { code, databaseId } = version;
      const bindings = code.runtime === "node" ? [] : (await readUploadForm(code.formPath)).metadata.bindings;
      const stored = await measureStoredData(bucket, databaseId, declaredStores(bindings));
      return { ...stored, sql: stored.sql + (await measureServerData(version, postgres, stopAtBytes)) };
    };
    let timer: NodeJS.Timeout | undefined;
    return {
      scripts,
      launcher,
      authEntries: new SharedAuthEntries({ bucket, log }),
      appEntries: new ClusterAppEntries({ launcher, scripts }),
      measure,
      databaseDirectory: directoryOf,
      async findWorkerDatabase(databaseId) {
        const stored = await measureStoredData(bucket, databaseId, []);
        if (stored.sql === 0) return null;
        return clusterDatabaseReader({ launcher, databaseId }, async () => stored.sql);
      },
      openDatabases: () => new ClusterSqlDatabases({ bucket, startWorker, postgres }),
      async open() {
        await Promise.all([scripts.open(), temporary.open()]);
      },
      follow(apps) {
        timer = setInterval(() => void stopOutdated(apps), FOLLOW_MS);
      },
      async close() {
        clearInterval(timer);
        await launcher.close();
      },
    };

    async function stopOutdated(apps: Supervisor): Promise<void> {
      for (const slug of apps.active)
        await apps.stopOutdated(slug).catch((err: unknown) => {
          log.warn({ slug, err }, "the edge could not check whether an app has changed");
        });
    }
  };
}
