import fetch from "npm-registry-fetch";
import { type Packument, readPackument, type Tarball } from "./packument.ts";
import { PackumentCache } from "./packument-cache.ts";
import type { NpmSettings } from "./npm-settings.ts";

/** The registry does not have what was asked for, or not for us. */
export class NotInRegistry extends Error {
  override readonly name = "NotInRegistry";
}

/** The registry could not be asked, and no earlier answer is kept. */
class RegistryUnavailable extends Error {
  override readonly name = "RegistryUnavailable";
}

/** How long an outage is remembered: meanwhile what is kept is used at once, instead of after a failed attempt each. */
const OUTAGE_MS = 15_000;

const PACKUMENT_HEADERS = { accept: "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*" };

export interface RegistryOptions {
  /** Where answers are kept. Entries name their content by its hash, so several processes may share it. */
  cacheDirectory: string;
  settings: NpmSettings;
  /** What tarballs in the answers are relative to; ends with a slash. */
  mirrorUrl: string;
}

/**
 * The package registries of this machine, as npm is set up to use them. Everything they answer is kept; when they
 * cannot be reached, an answer of any age is as good.
 */
export class Registry {
  readonly #settings: fetch.Options;
  readonly #mirrorUrl: string;
  readonly #memory = new PackumentCache();
  readonly #pending = new Map<string, Promise<Packument>>();
  #outageSince = Number.NEGATIVE_INFINITY;

  constructor({ cacheDirectory, settings, mirrorUrl }: RegistryOptions) {
    const retry = { retries: 2, minTimeout: 250, factor: 3 };
    this.#settings = {
      ...settings,
      cache: cacheDirectory,
      timeout: 30_000,
      retry,
      offline: false,
      preferOnline: false,
    };
    this.#mirrorUrl = mirrorUrl;
  }

  /**
   * What there is of a package, at most minutes old while the registry can be reached.
   *
   * @throws {NotInRegistry}
   * @throws {RegistryUnavailable}
   */
  async package(name: string): Promise<Packument> {
    return this.#memory.fresh(name) ?? (await this.#once(name));
  }

  /**
   * The tarball of one version, whose content is checked while it is read.
   *
   * @throws {NotInRegistry}
   * @throws {RegistryUnavailable}
   */
  async tarball(name: string, version: string): Promise<fetch.Response> {
    const { url, integrity } = await this.#findTarball(name, version);
    return this.#fetch(url, { spec: name, preferOffline: true, ...(integrity === undefined ? {} : { integrity }) });
  }

  /** A published version never changes, so what is known of it needs no second look. */
  async #findTarball(name: string, version: string): Promise<Tarball> {
    const known = this.#memory.any(name) ?? (await this.#kept(name));
    const tarball = known?.tarballs.get(version) ?? (await this.package(name)).tarballs.get(version);
    if (tarball === undefined) throw new NotInRegistry(`${name} has no version ${version}`);
    return tarball;
  }

  async #kept(name: string): Promise<Packument | null> {
    const response = await fetch(pathOf(name), this.#packumentOptions(name, { offline: true })).catch(() => null);
    return response && this.#read(name, response);
  }

  #once(name: string): Promise<Packument> {
    const pending = this.#pending.get(name) ?? this.#load(name).finally(() => this.#pending.delete(name));
    this.#pending.set(name, pending);
    return pending;
  }

  async #load(name: string): Promise<Packument> {
    return this.#read(name, await this.#fetch(pathOf(name), this.#packumentOptions(name, {})), Date.now());
  }

  async #read(name: string, response: fetch.Response, askedAt = 0): Promise<Packument> {
    const packument = readPackument(await response.json(), this.#mirrorUrl);
    this.#memory.keep(name, packument, askedAt);
    return packument;
  }

  #packumentOptions(name: string, more: fetch.Options): fetch.Options {
    return { ...this.#settings, headers: PACKUMENT_HEADERS, spec: name, ...more };
  }

  async #fetch(uri: string, options: fetch.Options): Promise<fetch.Response> {
    const request = { ...this.#settings, ...options };
    const isOutage = Date.now() - this.#outageSince < OUTAGE_MS;
    const kept = isOutage ? await offline(uri, request) : null;
    if (kept) return kept;
    try {
      return await fetch(uri, request);
    } catch (cause) {
      if (isRefusal(cause)) throw new NotInRegistry(`The registry does not have ${options.spec}`, { cause });
      this.#outageSince = Date.now();
      const answer = isOutage ? null : await offline(uri, request);
      if (answer === null) throw new RegistryUnavailable(`The registry did not answer for ${options.spec}`, { cause });
      return answer;
    }
  }
}

function offline(uri: string, options: fetch.Options): Promise<fetch.Response | null> {
  return fetch(uri, { ...options, offline: true }).catch(() => null);
}

/** Whether the registry itself answered that it will not give this; being asked to slow down is no such answer. */
function isRefusal(error: unknown): boolean {
  const status = (error as { statusCode?: unknown }).statusCode;
  return typeof status === "number" && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** A slash in a name is part of it, not of the path. */
function pathOf(name: string): string {
  return `/${name.replace("/", "%2f")}`;
}
