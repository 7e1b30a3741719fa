import { sha256Hex } from "../shared/sha256.ts";
import type { NamedProcedure } from "./list-procedures.ts";

/** An app with more procedures than this has no direct tools. */
export const MAX_DIRECT_TOOLS = 5;
/** The longest tool name that every client accepts, in characters. */
const MAX_NAME_CHARACTERS = 64;
const HASH_CHARACTERS = 8;
const HASHED_NAME = new RegExp(`_[0-9a-f]{${HASH_CHARACTERS}}$`);
/** Prefixes of the service's own tools, present and future. */
const RESERVED_PREFIX = /^(service|company|projects?|memory)_/;

/** Whether a name is reserved for the service's own tools. */
export function isReservedToolName(name: string): boolean {
  return RESERVED_PREFIX.test(name);
}

/**
 * Names the direct tools `<slug>_<procedure>`, sorted by name. A name depends only on the procedures of its own app, so
 * it stays the same when other apps are deployed or deleted. A name that is too long, reserved or ambiguous ends in a
 * hash of the app's id and the procedure's name.
 */
export function nameDirectTools<P extends NamedProcedure>(procedures: readonly P[]): ReadonlyMap<P, string> {
  const proceduresByApp = Map.groupBy(procedures, ({ appId }) => appId);
  const offered = [...proceduresByApp.values()].filter((ofApp) => ofApp.length <= MAX_DIRECT_TOOLS).flat();
  const candidates = offered.map((procedure) => ({ procedure, plainName: toPlainName(procedure) }));
  const candidatesByName = Map.groupBy(candidates, ({ plainName }) => plainName);
  const procedureByName = new Map<string, P>();
  for (const { procedure, plainName } of candidates) {
    const isUnique = candidatesByName.get(plainName)?.length === 1;
    const name = isUnique && isUsable(plainName) ? plainName : toHashedName(plainName, procedure);
    procedureByName.set(name, procedure);
  }
  const sorted = [...procedureByName].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return new Map(sorted.map(([name, procedure]) => [procedure, name]));
}

/** Replaces the characters that a tool name may not contain. */
function toPlainName({ slug, name }: NamedProcedure): string {
  return `${slug}_${name}`.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}

/** A plain name in the form of a hashed name could equal the hashed name of another procedure. */
function isUsable(plainName: string): boolean {
  return plainName.length <= MAX_NAME_CHARACTERS && !isReservedToolName(plainName) && !HASHED_NAME.test(plainName);
}

function toHashedName(plainName: string, { appId, name }: NamedProcedure): string {
  const hash = sha256Hex(`${appId} ${name}`).slice(0, HASH_CHARACTERS);
  const allowed = isReservedToolName(plainName) ? `app-${plainName}` : plainName;
  return `${allowed.slice(0, MAX_NAME_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`;
}
