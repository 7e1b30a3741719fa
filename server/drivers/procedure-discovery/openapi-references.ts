import { DISCOVERY_CAPS } from "../../../domain/ports/procedure-discovery.ts";

/** What one operation may unfold to; references within references grow without bound otherwise. */
const MAX_NODES = 10_000;

/**
 * Puts what local references of a document refer to in their place. Nothing outside of the document is ever fetched.
 * What cannot be resolved (a reference elsewhere, one that contains itself, more than the bounds) becomes `{}`, which
 * as a schema leaves everything open.
 */
export class References {
  readonly #document: unknown;
  #nodes = 0;

  constructor(document: unknown) {
    this.#document = document;
  }

  /** Starts counting anew, for the next operation. */
  restart(): void {
    this.#nodes = 0;
  }

  /** The value itself, when it is a reference what it refers to; deeper references stay. */
  follow(value: unknown): unknown {
    let current = value;
    for (let hops = 0; hops < 8; hops++) {
      const reference = referenceOf(current);
      if (reference === null) return current;
      current = this.#target(reference);
    }
    return undefined;
  }

  /** The value with all references resolved. */
  resolve(value: unknown, chain: readonly string[] = [], depth = 0): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (++this.#nodes > MAX_NODES || depth > DISCOVERY_CAPS.schemaDepth) return {};
    if (Array.isArray(value)) return value.map((item) => this.resolve(item, chain, depth + 1));
    const reference = referenceOf(value);
    if (reference !== null) {
      if (chain.includes(reference)) return {};
      return this.resolve(this.#target(reference) ?? {}, [...chain, reference], depth + 1);
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.resolve(item, chain, depth + 1)]));
  }

  /** `#/components/schemas/Task`, a JSON pointer as a fragment. */
  #target(reference: string): unknown {
    if (!reference.startsWith("#/")) return undefined;
    const steps = reference.slice(2).split("/").map(unescaped);
    return steps.reduce<unknown>((node, step) => {
      if (typeof node !== "object" || node === null || !Object.hasOwn(node, step)) return undefined;
      return (node as Record<string, unknown>)[step];
    }, this.#document);
  }
}

function referenceOf(value: unknown): string | null {
  if (typeof value !== "object" || value === null || !("$ref" in value)) return null;
  return typeof value.$ref === "string" ? value.$ref : null;
}

function unescaped(step: string): string {
  const plain = step.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
