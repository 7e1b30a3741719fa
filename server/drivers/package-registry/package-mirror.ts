import type { PackageSession, PackageSource } from "../../../domain/ports/package-source.ts";
import { openMirrorSession } from "./mirror-session.ts";
import { RegistryClient, type RegistryClientOptions } from "./registry-client.ts";

/**
 * A read-only mirror of the machine's package registries for sandboxed installs. Packages are requested by name only,
 * and the registry credentials stay on the host. The only data that leaves the sandbox is the names of packages.
 */
export class PackageMirror implements PackageSource {
  readonly #options: RegistryClientOptions;
  #client: Promise<RegistryClient> | null = null;

  constructor(options: RegistryClientOptions) {
    this.#options = options;
  }

  async open(): Promise<PackageSession> {
    return openMirrorSession(await this.#openClient());
  }

  /** Opens the client with the first install. A failure is not cached: the next install tries again. */
  #openClient(): Promise<RegistryClient> {
    this.#client ??= RegistryClient.open(this.#options).catch((error: unknown) => {
      this.#client = null;
      throw error;
    });
    return this.#client;
  }
}
