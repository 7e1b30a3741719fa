import { createHash } from "node:crypto";
import type { LiveProcedure } from "./list-procedures.ts";

/** An app with more procedures than this has no direct tools (spec.md, section 8). */
const DIRECT_TOOL_LIMIT = 5;
/** The longest name that every client takes, in characters. */
const LONGEST_NAME = 64;
const HASH_LENGTH = 8;

export interface DirectTool {
  name: string;
  procedure: LiveProcedure;
}

/**
 * The procedures that are tools of their own, each named `<slug>_<procedure>`. A name follows from its procedure alone,
 * so it is the same in every list; one that had to be changed, or would be another's, ends in a hash of what it stands for.
 *
 * @param reserved - names that are taken by the service's own tools
 */
export function directTools(procedures: readonly LiveProcedure[], reserved: ReadonlySet<string>): DirectTool[] {
  const small = [...Map.groupBy(procedures, ({ appId }) => appId).values()].filter(
    (own) => own.length <= DIRECT_TOOL_LIMIT,
  );
  const candidates = small.flat().map((procedure) => ({ procedure, plain: plainName(procedure) }));
  const wanted = Map.groupBy(candidates, ({ plain }) => plain);
  return candidates
    .map(({ procedure, plain }) => {
      const isTaken = reserved.has(plain) || (wanted.get(plain)?.length ?? 0) > 1 || plain.length > LONGEST_NAME;
      return { name: isTaken ? hashedName(plain, procedure) : plain, procedure };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** What a tool name may not have becomes `_`. */
function plainName({ slug, name }: LiveProcedure): string {
  return `${slug}_${name}`.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}

function hashedName(plain: string, { appId, name }: LiveProcedure): string {
  const hash = createHash("sha256").update(`${appId} ${name}`).digest("hex").slice(0, HASH_LENGTH);
  return `${plain.slice(0, LONGEST_NAME - HASH_LENGTH - 1)}_${hash}`;
}
