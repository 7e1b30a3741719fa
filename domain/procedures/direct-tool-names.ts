import { createHash } from "node:crypto";
import type { LiveProcedure } from "./list-procedures.ts";

/** An app with more procedures than this has no direct tools. */
const DIRECT_TOOL_LIMIT = 5;
/** The longest name that every client takes, in characters. */
const LONGEST_NAME = 64;
const HASH_LENGTH = 8;
const HASHED = new RegExp(`_[0-9a-f]{${HASH_LENGTH}}$`);
/** What the names of the service's own tools begin with, those that are still to come included. */
const RESERVED = /^(service|company|projects?|memory)_/;

/** Whether a name belongs to the service's own tools, and to no tool of an app. */
export function isReservedName(name: string): boolean {
  return RESERVED.test(name);
}

/**
 * Names the procedures that are tools of their own `<slug>_<procedure>`, in the order of the names. A name follows from
 * its app's procedures alone, so the apps and tools that come and go around it never change it. One that is too long,
 * reserved, or wanted twice ends in a hash of what it stands for.
 */
export function directToolNames(procedures: readonly LiveProcedure[]): ReadonlyMap<LiveProcedure, string> {
  const small = [...Map.groupBy(procedures, ({ appId }) => appId).values()].filter(
    (own) => own.length <= DIRECT_TOOL_LIMIT,
  );
  const candidates = small.flat().map((procedure) => ({ procedure, plain: plainName(procedure) }));
  const wanted = Map.groupBy(candidates, ({ plain }) => plain);
  const byName = new Map<string, LiveProcedure>();
  for (const { procedure, plain } of candidates) {
    const isOwn = isFree(plain) && wanted.get(plain)?.length === 1;
    byName.set(isOwn ? plain : hashedName(plain, procedure), procedure);
  }
  const named = [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return new Map(named.map(([name, procedure]) => [procedure, name]));
}

/** What a tool name may not have becomes `_`. */
function plainName({ slug, name }: LiveProcedure): string {
  return `${slug}_${name}`.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}

/** A plain name that looks like a hashed one could be that of another procedure. */
function isFree(plain: string): boolean {
  return plain.length <= LONGEST_NAME && !isReservedName(plain) && !HASHED.test(plain);
}

function hashedName(plain: string, { appId, name }: LiveProcedure): string {
  const hash = createHash("sha256").update(`${appId} ${name}`).digest("hex").slice(0, HASH_LENGTH);
  const allowed = isReservedName(plain) ? `app-${plain}` : plain;
  return `${allowed.slice(0, LONGEST_NAME - HASH_LENGTH - 1)}_${hash}`;
}
