import type { PackageSession, PackageRegistry } from "../../ports/package-registry.ts";
import { type InstallQuotaLimits, InstallQuota } from "./install-quota.ts";
import { type MirrorAdmission, openMirrorSession } from "./mirror-session.ts";
import type { NpmSettings } from "./npm-settings.ts";
import { PackageCache } from "./package-cache.ts";
import { RegistryClient } from "./registry-client.ts";
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

export interface PackageMirrorOptions {
  /** The cache of responses on disk. Entries are named by the hash of their content, so processes may share it. */
  cacheDirectory: string;
  readSettings(): Promise<NpmSettings>;
  limits?: Partial<MirrorLimits>;
  /** Called with the code of the error, such as `ENOTFOUND`, when the registry begins not to respond. */
  onOutage?: (code: string) => void;
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
  #client: Promise<RegistryClient> | null = null;

  constructor({ cacheDirectory, readSettings, limits, onOutage }: PackageMirrorOptions) {
    this.#readSettings = readSettings;
    this.#onOutage = onOutage;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#cache = new PackageCache(cacheDirectory, this.#limits.cacheBytes);
  }

  open(names: ReadonlySet<string>): Promise<PackageSession> {
    return this.#openSession(new InstallQuota(names, this.#limits));
  }

  openResolved(packages: ReadonlySet<string>): Promise<PackageSession> {
    return this.#openSession(new ResolvedPackages(packages));
  }

  async #openSession(admission: MirrorAdmission): Promise<PackageSession> {
    const session = await openMirrorSession(await this.#openClient(), admission);
    const dispose = async () => {
      await session[Symbol.asyncDispose]();
      await this.#cache.trim();
    };
    return { ...session, [Symbol.asyncDispose]: dispose };
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
