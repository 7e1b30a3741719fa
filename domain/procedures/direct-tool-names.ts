import { sha256Hex } from "../shared/sha256.ts";
import type { NamedProcedure } from "./list-procedures.ts";

/** An app with more procedures than this has no direct tools. */
export const MAX_DIRECT_TOOLS = 5;
/** In characters. Clients put up to 19 characters of their own before a name, and model APIs accept 64. */
const MAX_NAME_CHARACTERS = 45;
/** The longest name of a procedure that is part of a name as it is, in characters. */
const MAX_PROCEDURE_CHARACTERS = 30;
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
 * it stays the same when other apps are deployed or deleted. A name that is reserved or ambiguous, or contains a long name of a
 * procedure, ends in a hash of the app's id and the procedure's name. Of a slug that is too long, the middle is left out.
 */
export function nameDirectTools<P extends NamedProcedure>(procedures: readonly P[]): ReadonlyMap<P, string> {
  const proceduresByApp = Map.groupBy(procedures, ({ appId }) => appId);
  const offered = [...proceduresByApp.values()].filter((ofApp) => ofApp.length <= MAX_DIRECT_TOOLS).flat();
  const candidates = offered.map((procedure) => ({ procedure, plainName: toPlainName(procedure) }));
  const candidatesByName = Map.groupBy(candidates, ({ plainName }) => plainName);
  const procedureByName = new Map<string, P>();
  for (const { procedure, plainName } of candidates) {
    const isUnique = candidatesByName.get(plainName)?.length === 1;
    const name = isUnique && isUsable(plainName, procedure) ? plainName : toHashedName(plainName, procedure);
    procedureByName.set(name, procedure);
  }
  const sorted = [...procedureByName].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return new Map(sorted.map(([name, procedure]) => [procedure, name]));
}

/** Replaces the characters that a tool name may not contain, and shortens both parts. */
function toPlainName(procedure: NamedProcedure): string {
  const name = toToolCharacters(procedure.name);
  const shortName = isLong(procedure) ? withHash(name, MAX_PROCEDURE_CHARACTERS, procedure) : name;
  return `${shortenSlug(procedure.slug, MAX_NAME_CHARACTERS - shortName.length - 1)}_${shortName}`;
}

function toToolCharacters(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}

function isLong({ name }: NamedProcedure): boolean {
  return name.length > MAX_PROCEDURE_CHARACTERS;
}

/** Keeps the random end of a slug, which distinguishes apps. A name of a tool starts with a letter. */
function shortenSlug(slug: string, maxCharacters: number): string {
  const started = /^[a-z]/i.test(slug) ? slug : `app-${slug}`;
  if (started.length <= maxCharacters) return started;
  const end = started.slice(-SLUG_END_CHARACTERS);
  return `${started.slice(0, maxCharacters - end.length)}${end}`;
}

const SLUG_END_CHARACTERS = "-k7m2xq".length;

/** A short name of a procedure in the form of a hashed name could equal the hashed name of another one. */
function isUsable(plainName: string, procedure: NamedProcedure): boolean {
  return !isReservedToolName(plainName) && (isLong(procedure) || !HASHED_NAME.test(plainName));
}

function toHashedName(plainName: string, procedure: NamedProcedure): string {
  return withHash(isReservedToolName(plainName) ? `app-${plainName}` : plainName, MAX_NAME_CHARACTERS, procedure);
}

function withHash(text: string, maxCharacters: number, { appId, name }: NamedProcedure): string {
  const hash = sha256Hex(`${appId} ${name}`).slice(0, HASH_CHARACTERS);
  return `${text.slice(0, maxCharacters - HASH_CHARACTERS - 1)}_${hash}`;
}
