import type { JsonSchema } from "../../../domain/ports/procedure-discovery.ts";

/** Builds a value and its schema, which has about `maxBytes` at most. */
type Build<T> = (maxBytes: number) => { value: T; schema: JsonSchema | null };

/** Building a schema takes time for each byte. These bounds keep a document with thousands of operations within seconds. */
const LARGEST_SHARES = 4;
const ALWAYS_BUILT_BYTES = 16 * 1024;

/**
 * Builds values so that their schemas have `totalBytes` together. If they do not fit, the largest are built again with a
 * smaller bound, the same for all of them.
 */
export function fitSchemas<T>(
  builds: readonly Build<T>[],
  { totalBytes, maxBytes }: { totalBytes: number; maxBytes: number },
): { values: T[]; bytes: number } {
  const fairShare = totalBytes / Math.max(1, builds.length);
  const largest = Math.min(maxBytes, Math.max(LARGEST_SHARES * fairShare, ALWAYS_BUILT_BYTES));
  // Values within the fair share always fit. Larger ones are not kept, because together they can exceed the memory.
  const first = builds.map((build) => {
    const { value, schema } = build(largest);
    const bytes = measure(schema);
    return { bytes, built: bytes <= fairShare ? { value } : null };
  });
  const bound = findBound(
    first.map(({ bytes }) => bytes),
    totalBytes,
  );
  let bytes = 0;
  const values = builds.map((build, at) => {
    const earlier = first[at];
    if (earlier?.built != null) {
      bytes += earlier.bytes;
      return earlier.built.value;
    }
    const { value, schema } = build(Math.min(bound, largest));
    bytes += measure(schema);
    return value;
  });
  return { values, bytes };
}

/** The largest bound at which the sizes, each cut to the bound, are within the total. */
function findBound(sizes: readonly number[], totalBytes: number): number {
  const sorted = sizes.toSorted((a, b) => a - b);
  let remaining = totalBytes;
  for (const [at, size] of sorted.entries()) {
    const share = remaining / (sorted.length - at);
    if (size > share) return Math.floor(share);
    remaining -= size;
  }
  return Number.POSITIVE_INFINITY;
}

function measure(schema: JsonSchema | null): number {
  return schema === null ? 0 : Buffer.byteLength(JSON.stringify(schema));
}
