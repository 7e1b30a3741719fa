import { sha256Hex } from "../../../domain/shared/sha256.ts";

/**
 * The names of what an installation has in its Cloudflare account. All start with the name of its dispatch namespace, because
 * the account may contain other things, which the service must neither list nor remove.
 */
export class ResourceNames {
  readonly #prefix: string;

  constructor(namespace: string) {
    this.#prefix = `${namespace}--`;
  }

  /** The key-value namespace that the dispatch worker reads. */
  get edgeEntries(): string {
    return `${this.#prefix}edge`;
  }

  /** The SQL database that names the installation to which all of this belongs. */
  get owner(): string {
    return `${this.#prefix}installation`;
  }

  get dispatchWorker(): string {
    return `${this.#prefix}dispatch`;
  }

  database(databaseId: string): string {
    return `${this.databasePrefix}${databaseId}`;
  }

  get databasePrefix(): string {
    return `${this.#prefix}db-`;
  }

  /** A key-value namespace or a bucket of an app. */
  store(appId: string, storageName: string): string {
    return `${this.storePrefix(appId)}${storageName.slice(0, 12)}`;
  }

  /** What the names of all stores of an app start with. */
  storePrefix(appId: string): string {
    return `${this.#prefix}${sha256Hex(appId).slice(0, 24)}-`;
  }

  /** The script that the health probe of a new version requests. No slug has a double underscore. */
  candidate(slug: string, generation: number): string {
    return `${slug}__${generation}`;
  }
}

/** An earlier version had one candidate of each slug. */
const CANDIDATE = /__(\d+|candidate)$/;

/** The slug of a script of either kind. */
export function slugOf(scriptName: string): string {
  return scriptName.replace(CANDIDATE, "");
}
