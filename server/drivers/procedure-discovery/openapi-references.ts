import { isRecord, resolvePointer } from "../../../domain/shared/json.ts";

/** References that lead to another reference directly. */
const MAX_HOPS = 8;
/** More targets that are missing are not named. */
const MAX_MISSING = 100;

/**
 * The documents of one description by file name, and the references between them. Every reference has the form
 * `<file>#<pointer>` (`rewriteReferences`).
 *
 * A reference that leads nowhere, or only to other references, becomes `{}`, which as a schema accepts any value.
 */
export class References {
  /** The targets that could not be found, as the documents name them. */
  readonly missing = new Set<string>();
  /** Whether a schema in the documents has a marker. Operations share most of their schemas. */
  readonly marked = { readOnly: new WeakMap<object, boolean>(), writeOnly: new WeakMap<object, boolean>() };
  readonly #documents: ReadonlyMap<string, unknown>;
  readonly #targets = new Map<string, unknown>();

  constructor(documents: ReadonlyMap<string, unknown>) {
    this.#documents = documents;
  }

  /**
   * Replaces the value by its target when it is a reference. The keywords beside a reference are merged with the target
   * (OpenAPI 3.1). References deeper inside stay.
   *
   * @param merge - combines the target with the keywords beside its reference
   * @param chain - the references that led to the value. A reference among them would never end.
   */
  follow(
    value: unknown,
    merge: (target: Record<string, unknown>, siblings: Record<string, unknown>) => Record<string, unknown> = override,
    chain: readonly string[] = [],
  ): { value: unknown; chain: readonly string[] } {
    let current = value;
    let followed = chain;
    for (let hops = 0; isRecord(current) && typeof current["$ref"] === "string"; hops++) {
      const { $ref: reference, ...siblings } = current as { $ref: string };
      const isEndless = hops === MAX_HOPS || followed.includes(reference);
      const target = isEndless ? {} : (this.#find(reference) ?? {});
      followed = [...followed, reference];
      current = isRecord(target) && Object.keys(siblings).length > 0 ? merge(target, siblings) : target;
    }
    return { value: current, chain: followed };
  }

  #find(reference: string): unknown {
    if (this.#targets.has(reference)) return this.#targets.get(reference);
    const target = this.#resolve(reference);
    this.#targets.set(reference, target);
    if (target === undefined && this.missing.size < MAX_MISSING) this.missing.add(reference.replace(/#$/, ""));
    return target;
  }

  #resolve(reference: string): unknown {
    const at = reference.indexOf("#");
    const document = this.#documents.get(reference.slice(0, at));
    const pointer = reference.slice(at);
    // `#` of the document itself is not a schema, but another file may consist of one.
    const isWholeFile = pointer === "#" && at > 0;
    return pointer === "#" && !isWholeFile ? undefined : resolvePointer(document, pointer);
  }
}

function override(target: Record<string, unknown>, siblings: Record<string, unknown>): Record<string, unknown> {
  return { ...target, ...siblings };
}

/**
 * Rewrites the references of one document to `<file>#<pointer>` and returns the other files that it refers to. The main
 * document has the name "". References to the network stay as they are, and lead nowhere.
 *
 * @param resolveFile - returns the name of a file from a path relative to the document; `null` outside the repository
 */
export function rewriteReferences(
  document: unknown,
  fileName: string,
  resolveFile: (path: string) => string | null,
): Set<string> {
  const files = new Set<string>();
  const seen = new Set<unknown>();
  const pending: unknown[] = [document];
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== "object" || node === null || seen.has(node)) continue;
    seen.add(node);
    for (const value of Object.values(node)) if (typeof value === "object") pending.push(value);
    if (!("$ref" in node) || typeof node.$ref !== "string") continue;
    const [path = "", ...pointer] = node.$ref.split("#");
    const file = path === "" ? fileName : resolveFile(path);
    if (file !== null && path !== "") files.add(file);
    node.$ref = `${file ?? path}#${pointer.join("#")}`;
  }
  return files;
}
