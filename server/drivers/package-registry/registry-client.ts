import { Readable } from "node:stream";
import type fetch from "npm-registry-fetch";
import { readBody } from "../../http/read-body.ts";
import type { NpmSettings } from "./npm-settings.ts";
import type { PackageCache } from "./package-cache.ts";
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

/** In bytes. The largest packuments of the public registry have about 30 MB. */
const MAX_PACKUMENT = 128 * 1024 * 1024;
/** The assumed size of a response that does not name it, in bytes. */
const UNKNOWN_SIZE = 1024 * 1024;

export interface RegistryClientOptions {
  cache: PackageCache;
  readSettings(): Promise<NpmSettings>;
  /** Called with the code of the error, such as `ENOTFOUND`, when the registry begins not to respond. */
  onOutage?: (code: string) => void;
}

/**
 * Reads packages from the registries that npm uses on this machine. Caches every response on disk, and returns the
 * cached one, whatever its age, while the registry does not respond.
 */
export class RegistryClient {
  readonly #request: typeof fetch;
  readonly #settings: fetch.Options;
  readonly #cache: PackageCache;
  readonly #packuments = new PackumentCache();
  readonly #loading = new Map<string, Promise<Packument>>();
  readonly #onOutage: (code: string) => void;
  #failedAt = Number.NEGATIVE_INFINITY;

  private constructor(
    request: typeof fetch,
    settings: fetch.Options,
    options: Omit<RegistryClientOptions, "readSettings">,
  ) {
    const { cache, onOutage = () => {} } = options;
    this.#request = request;
    this.#settings = { ...settings, ...REQUEST_SETTINGS, cache: cache.folder };
    this.#cache = cache;
    this.#onOutage = onOutage;
  }

  static async open({ readSettings, ...options }: RegistryClientOptions): Promise<RegistryClient> {
    // Imported here and not at start: npm's HTTP client takes 20 MB of memory, and only installs need it.
    const { default: request } = await import("npm-registry-fetch");
    return new RegistryClient(request, await readSettings(), options);
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
   * Returns the tarball of one version, and whether it has a script that runs when it is installed. Its hash is verified
   * while the body is read.
   *
   * @throws {NotInRegistry}
   * @throws {RegistryUnavailable}
   */
  async fetchTarball(name: string, version: string): Promise<{ body: Readable; hasInstallScript: boolean }> {
    const { url, integrity, hasInstallScript } = await this.#findTarball(name, version);
    const options: fetch.Options = { spec: name, preferOffline: true };
    if (integrity !== undefined) options.integrity = integrity;
    return { body: readableBody(await this.#fetch(url, options)), hasInstallScript };
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
    const packument = readPackument(JSON.parse(await readText(response, name)));
    this.#packuments.set(name, packument, fetchedAt);
    return packument;
  }

  async #fetch(uri: string, options: fetch.Options): Promise<fetch.Response> {
    const isOutage = Date.now() - this.#failedAt < OUTAGE_MS;
    const cached = isOutage ? await this.#fetchCached(uri, options) : null;
    if (cached) return cached;
    try {
      return this.#record(await this.#request(uri, { ...this.#settings, ...options }));
    } catch (cause) {
      if (isDenial(cause)) throw new NotInRegistry(`${options.spec} was not found in the registry.`, { cause });
      this.#failedAt = Date.now();
      // The message of the error contains the URL, which can have a password.
      if (!isOutage) this.#onOutage(String((cause as NodeJS.ErrnoException).code));
      const fallback = isOutage ? null : await this.#fetchCached(uri, options);
      if (fallback) return fallback;
      throw new RegistryUnavailable(`The registry did not respond to the request for ${options.spec}.`, { cause });
    }
  }

  async #fetchCached(uri: string, options: fetch.Options): Promise<fetch.Response | null> {
    const response = await this.#request(uri, { ...this.#settings, ...options, offline: true }).catch(() => null);
    return response && this.#record(response);
  }

  async #record(response: fetch.Response): Promise<fetch.Response> {
    const { headers } = response;
    const key = decodeURIComponent(headers.get("x-local-cache-key") ?? "");
    // The cache sets the hash on a response that it has stored before.
    const isCached = headers.get("x-local-cache-hash") !== null;
    if (isCached) await this.#cache.recordUse(key);
    else this.#cache.recordAddition(key, Number(headers.get("content-length") ?? UNKNOWN_SIZE));
    return response;
  }
}

/** The body as a stream of Node. The library's own stream adds a listener per chunk when it is read by iteration. */
function readableBody({ body }: fetch.Response): Readable {
  return new Readable().wrap(body);
}

async function readText(response: fetch.Response, name: string): Promise<string> {
  const body = await readBody(readableBody(response), MAX_PACKUMENT);
  if (body === null) throw new NotInRegistry(`The metadata of ${name} is too large.`);
  return body.toString();
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
