import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { BuildRegistry } from "../../../domain/ports/bundler.ts";
import type { PackageClient } from "./mirror-session.ts";
import { type Packument, readPackument } from "./packument.ts";
import { NotInRegistry } from "./registry-client.ts";
import { RemoteFailure, type RemoteFetcher } from "../../sandbox/remote-fetcher.ts";

/** In bytes. */
const MAX_PACKUMENT = 64 * 1024 * 1024;

const HEADERS = { accept: "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*" };

/**
 * Reads packages from a registry of an organization, with its token. Only requests to the origin of the registry contain the
 * token: not those to another host that it names for a tarball, or redirects to. The package manager verifies the hash of a
 * tarball.
 */
export class PrivateRegistryClient implements PackageClient {
  readonly #registry: BuildRegistry;
  readonly #fetcher: RemoteFetcher;
  readonly #packuments = new Map<string, Promise<Packument>>();

  constructor(registry: BuildRegistry, fetcher: RemoteFetcher) {
    this.#registry = registry;
    this.#fetcher = fetcher;
  }

  getPackument(name: string): Promise<Packument> {
    const found = this.#packuments.get(name) ?? this.#load(name);
    this.#packuments.set(name, found);
    return found;
  }

  async fetchTarball(name: string, version: string): Promise<{ body: Readable; hasInstallScript: boolean }> {
    const tarball = (await this.getPackument(name)).tarballs.get(version);
    const url = tarball && URL.parse(tarball.url, this.#registry.url);
    if (!tarball || !url) throw new NotInRegistry(`${name} has no version ${version}.`);
    return { body: await this.#fetch(name, url), hasInstallScript: tarball.hasInstallScript };
  }

  async #load(name: string): Promise<Packument> {
    const body = await this.#fetch(name, new URL(name.replace("/", "%2f"), this.#registry.url));
    let bytes = 0;
    body.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_PACKUMENT) body.destroy(new Error("The metadata of the package is too large"));
    });
    return readPackument(JSON.parse((await buffer(body)).toString()));
  }

  async #fetch(name: string, url: URL): Promise<Readable> {
    const { token, url: own } = this.#registry;
    const credential = { origin: new URL(own).origin, authorization: `Bearer ${token}` };
    return this.#fetcher.fetch(url, { method: "GET", headers: HEADERS, credential }).catch((error: unknown) => {
      const status = error instanceof RemoteFailure ? error.status : null;
      if (status !== null && status >= 400 && status < 500)
        throw new NotInRegistry(`${name} was not found in the private registry.`, { cause: error });
      throw error;
    });
  }
}
