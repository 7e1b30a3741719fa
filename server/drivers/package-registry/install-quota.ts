import type { MirrorAdmission } from "./mirror-session.ts";

export interface InstallQuotaLimits {
  /** How many packages an install may request that no manifest, lockfile or requested package names. */
  otherPackages: number;
  /** The size of all responses together. */
  bytes: number;
}

/** The packages of one install may depend on this many others. Their names are held in memory. */
const MAX_NAMES = 200_000;

/**
 * What one install may request from the mirror. An install can otherwise fill the shared cache with packages that its
 * project does not use.
 */
export class InstallQuota implements MirrorAdmission {
  readonly #limits: InstallQuotaLimits;
  readonly #names: Set<string>;
  #otherPackages = 0;
  #bytes = 0;
  #exceeded: keyof InstallQuotaLimits | null = null;

  /** @param names - the package names in the manifests and the lockfile of the project */
  constructor(names: Iterable<string>, limits: InstallQuotaLimits) {
    this.#names = new Set(names);
    this.#limits = limits;
  }

  /** The limit that the install has exceeded, if any. */
  get exceeded(): keyof InstallQuotaLimits | null {
    return this.#exceeded;
  }

  /** Whether a package may be requested. */
  admits(name: string): boolean {
    if (this.#exceeded === "bytes") return false;
    if (this.#names.has(name)) return true;
    if (this.#otherPackages >= this.#limits.otherPackages) {
      this.#exceeded = "otherPackages";
      return false;
    }
    this.#otherPackages++;
    this.#names.add(name);
    return true;
  }

  /** Allows the packages on which a requested package depends. */
  addDependencies(names: ReadonlySet<string>): void {
    for (const name of names) {
      if (this.#names.size >= MAX_NAMES) return;
      this.#names.add(name);
    }
  }

  /** Returns whether the install may receive these bytes too. */
  receive(bytes: number): boolean {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.bytes) this.#exceeded = "bytes";
    return this.#exceeded !== "bytes";
  }
}
