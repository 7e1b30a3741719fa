import {
  DISCOVERY_CAPS,
  type DiscoveredProcedure,
  type DiscoveryResult,
  PROCEDURE_NAME,
} from "../../../domain/ports/procedure-discovery.ts";
import { sanitizeSchema, sanitizeText } from "./sanitize-schema.ts";
import { quoteList, type SourceResult } from "./source-result.ts";

/**
 * Names that every JavaScript object has, or that `await` reads. Programs access procedures as properties of objects.
 */
const RESERVED_NAMES = new Set([...Object.getOwnPropertyNames(Object.prototype), "prototype", "then"]);

const REJECTIONS = {
  name: `a name consists of letters, digits, _, $ and -, with dots between parts, has at most ${DISCOVERY_CAPS.nameCharacters} characters, and no part may be a reserved name of JavaScript`,
  duplicate: "an earlier procedure has the same name",
  schema: `a schema is larger than ${DISCOVERY_CAPS.schemaBytes / 1024} KiB or nested deeper than ${DISCOVERY_CAPS.schemaDepth} levels`,
  total: `the schemas of an app are larger than ${DISCOVERY_CAPS.totalBytes / 1024 / 1024} MiB together`,
  count: `an app has at most ${DISCOVERY_CAPS.procedures} procedures`,
} as const;

type Rejection = keyof typeof REJECTIONS;

/** Applies the caps to the procedures that an app describes, and reports those that were left out. */
export function validateProcedures({ candidates, problems }: SourceResult): DiscoveryResult {
  const accepted = new Map<string, DiscoveredProcedure>();
  const rejectedNames = new Map<Rejection, string[]>();
  let remainingBytes: number = DISCOVERY_CAPS.totalBytes;
  for (const candidate of candidates) {
    const result = validateCandidate(candidate, accepted, remainingBytes);
    if (typeof result === "object") {
      accepted.set(candidate.name, result.procedure);
      remainingBytes -= result.bytes;
    } else {
      rejectedNames.set(result, [...(rejectedNames.get(result) ?? []), candidate.name]);
    }
  }
  const rejections = [...rejectedNames].map(
    ([rejection, names]) => `Left out ${quoteList(names)}: ${REJECTIONS[rejection]}.`,
  );
  return { procedures: [...accepted.values()], problem: joinProblems([...problems, ...rejections]) };
}

function validateCandidate(
  candidate: DiscoveredProcedure,
  accepted: ReadonlyMap<string, unknown>,
  remainingBytes: number,
): { procedure: DiscoveredProcedure; bytes: number } | Rejection {
  if (!isProcedureName(candidate.name)) return "name";
  if (accepted.has(candidate.name)) return "duplicate";
  if (accepted.size >= DISCOVERY_CAPS.procedures) return "count";
  const input = sanitizeSchema(candidate.inputSchema);
  if (input === null) return "schema";
  // The output schema is optional: a procedure whose output schema breaks a cap is kept without it.
  const output = candidate.outputSchema && sanitizeSchema(candidate.outputSchema);
  const bytes = input.bytes + (output?.bytes ?? 0);
  if (bytes > remainingBytes) return "total";
  const description = sanitizeText(candidate.description).trim().slice(0, DISCOVERY_CAPS.descriptionCharacters);
  const procedure = {
    ...candidate,
    description: description.toWellFormed(),
    inputSchema: input.schema,
    outputSchema: output?.schema ?? null,
  };
  return { procedure, bytes };
}

function isProcedureName(name: string): boolean {
  if (name.length > DISCOVERY_CAPS.nameCharacters || !PROCEDURE_NAME.test(name)) return false;
  return name.split(".").every((part) => !RESERVED_NAMES.has(part));
}

/** @returns one text for the owner of the app, within the cap; `null` when there is no problem */
export function joinProblems(problems: readonly string[]): string | null {
  if (problems.length === 0) return null;
  return sanitizeText(problems.join(" ")).slice(0, DISCOVERY_CAPS.problemCharacters).toWellFormed();
}
