import { DISCOVERY_CAPS } from "../../../domain/ports/procedure-discovery.ts";
import { resolvePointer } from "../../../domain/shared/json.ts";

/** Nodes of one operation after its references are resolved. References within references can grow exponentially. */
const MAX_NODES = 10_000;
/** References that lead to another reference directly. */
const MAX_HOPS = 8;

/**
 * Resolves the local references of one document. It reads no other document, file or address.
 *
 * A reference that cannot be resolved becomes `{}`, which as a schema accepts any value. That is the case for a
 * reference to another document, a reference that contains itself, and everything beyond the bounds.
 */
export class References {
  readonly #document: unknown;
  #nodes = 0;

  constructor(document: unknown) {
    this.#document = document;
  }

  /** Starts the next operation: the bound on nodes applies to each operation separately. */
  reset(): void {
    this.#nodes = 0;
  }

  /** Replaces the value by its target when it is a reference. References deeper inside stay. */
  follow(value: unknown): unknown {
    let current = value;
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      const reference = getReference(current);
      if (reference === null) return current;
      current = this.#find(reference);
    }
    return undefined;
  }

  /** Returns a copy of the value in which all references are resolved. */
  resolve(value: unknown, chain: readonly string[] = [], depth = 0): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (++this.#nodes > MAX_NODES || depth > DISCOVERY_CAPS.schemaDepth) return {};
    if (Array.isArray(value)) return value.map((item) => this.resolve(item, chain, depth + 1));
    const reference = getReference(value);
    if (reference !== null) {
      if (chain.includes(reference)) return {};
      return this.resolve(this.#find(reference) ?? {}, [...chain, reference], depth + 1);
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.resolve(item, chain, depth + 1)]));
  }

  #find(reference: string): unknown {
    // `#` is the document itself, which is not a schema.
    return reference === "#" ? undefined : resolvePointer(this.#document, reference);
  }
}

function getReference(value: unknown): string | null {
  if (typeof value !== "object" || value === null || !("$ref" in value)) return null;
  return typeof value.$ref === "string" ? value.$ref : null;
}
