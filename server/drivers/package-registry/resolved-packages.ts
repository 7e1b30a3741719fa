import type { MirrorAdmission } from "./mirror-session.ts";

/** How much install scripts may receive. They rarely request packages at all. */
const MAX_BYTES = 1024 ** 3;

/**
 * What install scripts may request from the mirror: the packages that the install before them resolved, in these versions.
 * Their code decides what they request, so any other name could be a message to the registry, or fill the shared cache.
 */
export class ResolvedPackages implements MirrorAdmission {
  readonly #packages: ReadonlySet<string>;
  readonly #names: ReadonlySet<string>;
  #bytes = 0;

  /** @param packages - in the form `name@version` */
  constructor(packages: ReadonlySet<string>) {
    this.#packages = packages;
    this.#names = new Set([...packages].map((each) => each.slice(0, each.lastIndexOf("@"))));
  }

  get exceeded(): "bytes" | null {
    return this.#bytes > MAX_BYTES ? "bytes" : null;
  }

  admits(name: string, version: string | null): boolean {
    return version === null ? this.#names.has(name) : this.#packages.has(`${name}@${version}`);
  }

  addDependencies(): void {}

  receive(bytes: number): boolean {
    this.#bytes += bytes;
    return this.exceeded === null;
  }
}
