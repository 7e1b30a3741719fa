import { sha256Hex } from "../../../domain/shared/sha256.ts";

const MAX_CHARACTERS = 64;
const ACCEPTED = /^[a-zA-Z0-9_.-]{1,64}$/;
const HASH_CHARACTERS = 6;

/**
 * Names properties so that every model API accepts them: `filter[name]` becomes `filter_name`. An accepted name stays. A name
 * that would be ambiguous, or of which nothing remains, ends in a hash of the original one.
 *
 * @returns the new names by original name, in the same order
 */
export function namePortably(names: Iterable<string>): Map<string, string> {
  const originals = [...names];
  const used = new Set(originals.filter((name) => ACCEPTED.test(name)));
  const named = originals.map((name) => [name, ACCEPTED.test(name) ? name : createName(name, used)] as const);
  return new Map(named);
}

function createName(name: string, used: Set<string>): string {
  const readable = name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-zA-Z0-9_.-]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  const short = readable.slice(0, MAX_CHARACTERS - HASH_CHARACTERS - 1);
  const isComplete = readable !== "" && short === readable && !used.has(readable);
  const hash = sha256Hex(name).slice(0, HASH_CHARACTERS);
  const created = isComplete ? readable : `${short === "" ? "property" : short}_${hash}`;
  used.add(created);
  return created;
}
