import { createHmac } from "node:crypto";
import type { AlwaysOnApps } from "../../../domain/ports/always-on-apps.ts";
import type { AppDatabases } from "../../../domain/ports/app-databases.ts";
import type { AppEntries } from "../../../domain/ports/app-entries.ts";
import type { AppStorage } from "../../../domain/ports/app-storage.ts";
import type { AppVariables } from "../../../domain/ports/app-variables.ts";
import type { AuthEntries } from "../../../domain/ports/auth-entries.ts";
import type { Counter } from "../../../domain/ports/counter.ts";
import type { EdgePlatform } from "../../../domain/ports/edge-platform.ts";
import type { RuntimeLogs } from "../../../domain/ports/runtime-logs.ts";
import type { SqlDatabases } from "../../../domain/ports/sql-databases.ts";
import type { Installation } from "../../installation/installation.ts";
import { Ownership, type OwnerRecord } from "../../installation/ownership.ts";
import { ownerOfAccount } from "./account-owner.ts";
import type { AppsAddress } from "./apps-address.ts";
import { AppStores } from "./app-stores.ts";
import { CloudflareAppDatabases } from "./cloudflare-app-databases.ts";
import { CloudflareAppEntries } from "./cloudflare-app-entries.ts";
import { CloudflareAppStorage } from "./cloudflare-app-storage.ts";
import { checkConditionalUploads } from "./check-conditional-uploads.ts";
import { type ClientLimits, CloudflareClient } from "./cloudflare-client.ts";
import { CloudflareDatabases } from "./cloudflare-databases.ts";
import { EdgeEntries } from "./edge-entries.ts";
import { NamedDatabases } from "./named-databases.ts";
import { NamespaceScripts } from "./namespace-scripts.ts";
import { ResourceNames } from "./resource-names.ts";
import { ScriptPublisher } from "./script-publisher.ts";
import { noAlwaysOnApps, noRuntimeLogs } from "./unavailable-features.ts";
import { uploadDispatchWorker } from "./upload-dispatch-worker.ts";
import { VersionedScripts } from "./versioned-scripts.ts";

export interface CloudflareSettings {
  apiUrl: string;
  accountId: string;
  apiToken: string;
  /** The dispatch namespace, which the operator has created. */
  namespace: string;
}

export interface CloudflarePlatformOptions extends CloudflareSettings {
  address: AppsAddress;
  /** From which the secret of health probes is derived. */
  tokenSecret: string;
  variables: AppVariables;
  counter: Counter;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  installation: Installation;
  /** Called when another installation has taken over the apps. This process must then stop. */
  onTakenOver: (error: Error) => void;
  limits?: Partial<ClientLimits>;
}

const CHECK_MS = 120_000;
const UNCONDITIONAL =
  "Cloudflare does not check the tags of migrations without classes: a worker that is late can replace a newer version";

/** The ports of an edge platform, in a dispatch namespace of a Cloudflare account. */
export interface CloudflarePlatform extends Disposable {
  scripts: EdgePlatform;
  databases: SqlDatabases;
  authEntries: AuthEntries;
  appDatabases: AppDatabases;
  appEntries: AppEntries;
  storage: AppStorage;
  runtimeLogs: RuntimeLogs;
  alwaysOn: AlwaysOnApps;
  /** @throws {CloudflareError} when the API does not accept requests of the service */
  check(): Promise<void>;
}

/**
 * Opens the platform: claims the dispatch namespace for the installation, creates the key-value namespace of the edge and uploads the
 * dispatch worker, where they are missing or outdated. An installation that was restored changes nothing in the account.
 *
 * @throws {CloudflareError} such as for an invalid token
 * @throws {ConfigError} for an account that belongs to another installation
 * @throws for an account without the dispatch namespace
 */
export async function openCloudflarePlatform(options: CloudflarePlatformOptions): Promise<CloudflarePlatform> {
  const { namespace, address, tokenSecret, variables, log, installation, onTakenOver } = options;
  const names = new ResourceNames(namespace);
  const unguarded = new CloudflareClient(options);
  // Before anything is created in the account.
  if (!(await new NamespaceScripts(unguarded, namespace).exists()))
    throw new Error(
      `CLOUDFLARE_DISPATCH_NAMESPACE: the account has no dispatch namespace "${namespace}". See docs/operations.md, Cloudflare.`,
    );
  const ownership = await Ownership.open(openOwner(options), installation, onTakenOver);
  const client = new CloudflareClient({ ...options, guard: () => ownership.require() });
  const entries = new EdgeEntries(client, names.edgeEntries);
  const scripts = new NamespaceScripts(client, namespace);
  const databases = new CloudflareDatabases(client, names);
  const probeSecret = createHmac("sha256", tokenSecret).update("edge-probe").digest("hex");
  const { isUploaded, isConditional } =
    installation.state === "active"
      ? await uploadDispatchWorker(client, {
          name: names.dispatchWorker,
          namespace,
          entriesId: await entries.namespaceId(),
          domain: address.domain.replace(/:\d+$/, "").toLowerCase(),
          probeSecret,
          checkConditionalUploads: () => checkConditionalUploads(scripts, AbortSignal.timeout(CHECK_MS)),
        })
      : { isUploaded: false, isConditional: true };
  if (isUploaded) log.info({ worker: names.dispatchWorker }, "the dispatch worker was uploaded");
  if (!isConditional) log.warn({}, UNCONDITIONAL);
  const stores = new AppStores(client, names);
  const versions = new VersionedScripts({ client, scripts, isConditional });
  const parts = { names, scripts, versions, entries, databases, stores, variables, address, probeSecret };
  return {
    scripts: new ScriptPublisher(parts),
    databases,
    authEntries: entries.auth,
    appDatabases: new CloudflareAppDatabases({ client, scripts }),
    appEntries: new CloudflareAppEntries({ client, scripts }),
    storage: new CloudflareAppStorage({ client, scripts, entries }),
    runtimeLogs: noRuntimeLogs,
    alwaysOn: noAlwaysOnApps(log),
    check: async () => {
      if (!(await scripts.exists())) throw new Error(`The dispatch namespace "${namespace}" does not exist.`);
    },
    [Symbol.dispose]: () => ownership[Symbol.dispose](),
  };
}

/** Names the installation to which the apps of a dispatch namespace belong. */
export function openOwner({ namespace, ...options }: CloudflareSettings & { counter: Counter }): OwnerRecord {
  const client = new CloudflareClient(options);
  return ownerOfAccount(client, new NamedDatabases(client), new ResourceNames(namespace).owner);
}
