import type fetch from "npm-registry-fetch";
import type { NpmSettings } from "./npm-settings.ts";
import { type Packument, readPackument, type Tarball } from "./packument.ts";
import { PackumentCache } from "./packument-cache.ts";

/** The registry does not have the package or version, or denies access to it. */
export class NotInRegistry extends Error {
  override readonly name = "NotInRegistry";
}

/** The registry did not respond, and the cache has no earlier response. */
class RegistryUnavailable extends Error {
  override readonly name = "RegistryUnavailable";
}

/** After a failed request, the cache is tried first for this long. Otherwise every request would wait for a timeout. */
const OUTAGE_MS = 15_000;

const PACKUMENT_HEADERS = { accept: "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*" };

const REQUEST_SETTINGS: fetch.Options = {
  timeout: 30_000,
  retry: { retries: 2, minTimeout: 250, factor: 3 },
  offline: false,
  preferOnline: false,
};

export interface RegistryClientOptions {
  /** The cache of responses on disk. Entries are named by the hash of their content, so processes may share it. */
  cacheDirectory: string;
  readSettings(): Promise<NpmSettings>;
}

/**
 * Reads packages from the registries that npm uses on this machine. Caches every response on disk, and returns the
 * cached one, whatever its age, while the registry does not respond.
 */
export class RegistryClient {
  readonly #request: typeof fetch;
  readonly #settings: fetch.Options;
  readonly #packuments = new PackumentCache();
  readonly #loading = new Map<string, Promise<Packument>>();
  #failedAt = Number.NEGATIVE_INFINITY;

  private constructor(request: typeof fetch, settings: fetch.Options) {
    this.#request = request;
    this.#settings = settings;
  }

  static async open({ cacheDirectory, readSettings }: RegistryClientOptions): Promise<RegistryClient> {
    // Imported here and not at start: npm's HTTP client takes 20 MB of memory, and only installs need it.
    const { default: request } = await import("npm-registry-fetch");
    return new RegistryClient(request, { ...(await readSettings()), ...REQUEST_SETTINGS, cache: cacheDirectory });
  }

  /**
   * Returns the metadata of a package, at most 5 minutes old while the registry responds.
   *
   * @throws {NotInRegistry}
   * @throws {RegistryUnavailable}
   */
  async getPackument(name: string): Promise<Packument> {
    return this.#packuments.getFresh(name) ?? (await this.#loadOnce(name));
  }

  /**
   * Returns the tarball of one version. Its hash is verified while the body is read.
   *
   * @throws {NotInRegistry}
   * @throws {RegistryUnavailable}
   */
  async fetchTarball(name: string, version: string): Promise<fetch.Response> {
    const { url, integrity } = await this.#findTarball(name, version);
    const options: fetch.Options = { spec: name, preferOffline: true };
    if (integrity !== undefined) options.integrity = integrity;
    return this.#fetch(url, options);
  }

  /** A published version never changes, so a cached packument of any age is good enough if it lists the version. */
  async #findTarball(name: string, version: string): Promise<Tarball> {
    const cached = this.#packuments.get(name) ?? (await this.#readFromDisk(name));
    const tarball = cached?.tarballs.get(version) ?? (await this.getPackument(name)).tarballs.get(version);
    if (tarball === undefined) throw new NotInRegistry(`${name} has no version ${version}.`);
    return tarball;
  }

  async #readFromDisk(name: string): Promise<Packument | null> {
    const response = await this.#fetchCached(packumentPath(name), packumentOptions(name));
    return response && this.#parse(name, response, 0);
  }

  /** Shares one request between concurrent callers. */
  #loadOnce(name: string): Promise<Packument> {
    const loading = this.#loading.get(name) ?? this.#load(name).finally(() => this.#loading.delete(name));
    this.#loading.set(name, loading);
    return loading;
  }

  async #load(name: string): Promise<Packument> {
    return this.#parse(name, await this.#fetch(packumentPath(name), packumentOptions(name)), Date.now());
  }

  async #parse(name: string, response: fetch.Response, fetchedAt: number): Promise<Packument> {
    const packument = readPackument(await response.json());
    this.#packuments.set(name, packument, fetchedAt);
    return packument;
  }

  async #fetch(uri: string, options: fetch.Options): Promise<fetch.Response> {
    const isOutage = Date.now() - this.#failedAt < OUTAGE_MS;
    const cached = isOutage ? await this.#fetchCached(uri, options) : null;
    if (cached) return cached;
    try {
      return await this.#request(uri, { ...this.#settings, ...options });
    } catch (cause) {
      if (isDenial(cause)) throw new NotInRegistry(`${options.spec} was not found in the registry.`, { cause });
      this.#failedAt = Date.now();
      const fallback = isOutage ? null : await this.#fetchCached(uri, options);
      if (fallback) return fallback;
      throw new RegistryUnavailable(`The registry did not respond to the request for ${options.spec}.`, { cause });
    }
  }

  #fetchCached(uri: string, options: fetch.Options): Promise<fetch.Response | null> {
    return this.#request(uri, { ...this.#settings, ...options, offline: true }).catch(() => null);
  }
}

function packumentOptions(name: string): fetch.Options {
  return { headers: PACKUMENT_HEADERS, spec: name };
}

/** Whether the registry rejected the request permanently. 408 and 429 ask the client to try again later. */
function isDenial(error: unknown): boolean {
  const status = (error as { statusCode?: unknown }).statusCode;
  return typeof status === "number" && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** The slash of a scoped name is escaped: it is part of the name and does not separate path segments. */
function packumentPath(name: string): string {
  return `/${name.replace("/", "%2f")}`;
}
