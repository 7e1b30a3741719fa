import type { BuildRegistry } from "../../../domain/ports/bundler.ts";
import type { InstallAccess, PackageRegistry, PackageSession, ScriptAccess } from "../../ports/package-registry.ts";
import { type InstallQuotaLimits, InstallQuota } from "./install-quota.ts";
import { type MirrorAdmission, openMirrorSession, type PackageClient } from "./mirror-session.ts";
import type { NpmSettings } from "./npm-settings.ts";
import { PackageCache } from "./package-cache.ts";
import { PrivateRegistryClient } from "./private-registry-client.ts";
import { RegistryClient } from "./registry-client.ts";
import { ENGINES_URL, PRISMA_ENGINES, RemoteAccess } from "./remote-access.ts";
import { RemoteFailure, RemoteFetcher, type RemoteFetcherOptions } from "../../sandbox/remote-fetcher.ts";
import { RemoteSources } from "./remote-sources.ts";
import { ResolvedPackages } from "./resolved-packages.ts";

export interface MirrorLimits extends InstallQuotaLimits {
  /** The size of the cache on disk. */
  cacheBytes: number;
}

const DEFAULT_LIMITS: MirrorLimits = {
  otherPackages: 300,
  bytes: 1024 ** 3,
  cacheBytes: 5 * 1024 ** 3,
};

/** A build waits so long before it goes on without the engines of Prisma. */
const ENGINES_TIMEOUT_MS = 10_000;

export interface PackageMirrorOptions {
  /** The cache of responses on disk. Entries are named by the hash of their content, so processes may share it. */
  cacheDirectory: string;
  readSettings(): Promise<NpmSettings>;
  limits?: Partial<MirrorLimits>;
  /** Called with the code of the error, such as `ENOTFOUND`, when the registry begins not to respond. */
  onOutage?: (code: string) => void;
  /** How packages outside of the registry, and private registries, are reached. */
  remote?: RemoteFetcherOptions;
}

/**
 * A read-only mirror of the machine's package registries for sandboxed installs. Packages are requested by name only,
 * and the registry credentials stay on the host. The only data that leaves the sandbox is the names of packages.
 */
export class PackageMirror implements PackageRegistry {
  readonly #readSettings: () => Promise<NpmSettings>;
  readonly #limits: MirrorLimits;
  readonly #cache: PackageCache;
  readonly #onOutage: ((code: string) => void) | undefined;
  readonly #fetcher: RemoteFetcher;
  #client: Promise<RegistryClient> | null = null;

  constructor({ cacheDirectory, readSettings, limits, onOutage, remote }: PackageMirrorOptions) {
    this.#fetcher = new RemoteFetcher(remote);
    this.#readSettings = readSettings;
    this.#onOutage = onOutage;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#cache = new PackageCache(cacheDirectory, this.#limits.cacheBytes);
  }

  open(names: ReadonlySet<string>, { sources = [], registry = null }: InstallAccess = {}): Promise<PackageSession> {
    const named = new RemoteSources();
    for (const text of sources) named.add(text);
    const remote = named.hosts.size === 0 ? null : new RemoteAccess(named, this.#fetcher);
    return this.#openSession(new InstallQuota(names, this.#limits), registry, remote);
  }

  openResolved(
    packages: ReadonlySet<string>,
    { registry = null, engines = false }: ScriptAccess = {},
  ): Promise<PackageSession> {
    const remote = engines ? new RemoteAccess(PRISMA_ENGINES, this.#fetcher) : null;
    return this.#openSession(new ResolvedPackages(packages), registry, remote);
  }

  async reachesEngines(signal: AbortSignal): Promise<boolean> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(ENGINES_TIMEOUT_MS)]);
    const request = this.#fetcher.fetch(new URL(ENGINES_URL), { method: "HEAD", signal: bounded });
    const response = await request.catch((error: unknown) => {
      signal.throwIfAborted();
      return error instanceof RemoteFailure ? error : null;
    });
    if (response === null || response instanceof RemoteFailure) return response !== null && response.status !== null;
    response.destroy();
    return true;
  }

  async #openSession(
    admission: MirrorAdmission,
    registry: BuildRegistry | null,
    remote: RemoteAccess | null,
  ): Promise<PackageSession> {
    const shared = await this.#openClient();
    const client = registry === null ? shared : this.#withPrivate(shared, registry);
    const session = await openMirrorSession(client, admission, remote);
    const dispose = async () => {
      await session[Symbol.asyncDispose]();
      await this.#cache.trim();
    };
    return { ...session, [Symbol.asyncDispose]: dispose };
  }

  /** Its responses live as long as the session, so that no other organization and no other app gets them. */
  #withPrivate(shared: PackageClient, registry: BuildRegistry): PackageClient {
    const own = new PrivateRegistryClient(registry, this.#fetcher);
    const select = (name: string) => (registry.scope === null || name.startsWith(`${registry.scope}/`) ? own : shared);
    return {
      getPackument: (name) => select(name).getPackument(name),
      fetchTarball: (name, version) => select(name).fetchTarball(name, version),
    };
  }

  /** Opens the client with the first install. A failure is not cached: the next install tries again. */
  #openClient(): Promise<RegistryClient> {
    const options = { cache: this.#cache, readSettings: this.#readSettings, onOutage: this.#onOutage };
    this.#client ??= RegistryClient.open(options).catch((error: unknown) => {
      this.#client = null;
      throw error;
    });
    return this.#client;
  }
}
