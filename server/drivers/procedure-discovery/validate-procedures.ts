import {
  DISCOVERY_CAPS,
  type DiscoveredProcedure,
  PROCEDURE_NAME,
  type Discovery,
} from "../../../domain/ports/procedure-discovery.ts";
import { cleanSchema, cleanText } from "./sanitize-schema.ts";
import { type Candidate, type Finding, quotedList } from "./source-result.ts";

/** Names that mean something to every object of JavaScript, where agents will write them. */
const RESERVED = new Set([...Object.getOwnPropertyNames(Object.prototype), "prototype", "then"]);

const REASONS = {
  name: "their names are not made of letters, digits, _, $ and -, with dots between, are too long, or mean something else in JavaScript",
  twice: "an earlier one has the same name",
  schema: `a schema is larger than ${DISCOVERY_CAPS.schemaBytes / 1024} KiB or nested deeper than ${DISCOVERY_CAPS.schemaDepth}`,
  total: `the schemas of an app are larger than ${DISCOVERY_CAPS.totalBytes / 1024 / 1024} MiB together`,
  many: `only ${DISCOVERY_CAPS.procedures} are offered`,
} as const;

type Reason = keyof typeof REASONS;

/** Holds what an app says of itself to the caps, and tells what was left out. */
export function admit({ candidates, problems }: Finding): Discovery {
  const admitted = new Map<string, DiscoveredProcedure>();
  const refused = new Map<Reason, string[]>();
  let room: number = DISCOVERY_CAPS.totalBytes;
  for (const candidate of candidates) {
    const verdict = judge(candidate, admitted, room);
    if (typeof verdict === "object") {
      admitted.set(candidate.name, verdict.procedure);
      room -= verdict.bytes;
    } else refused.set(verdict, [...(refused.get(verdict) ?? []), candidate.name]);
  }
  const told = [...refused].map(([reason, names]) => `Left out ${quotedList(names)}: ${REASONS[reason]}.`);
  return { procedures: [...admitted.values()], problem: problemOf([...problems, ...told]) };
}

function judge(
  candidate: Candidate,
  admitted: ReadonlyMap<string, unknown>,
  room: number,
): { procedure: DiscoveredProcedure; bytes: number } | Reason {
  if (!isName(candidate.name)) return "name";
  if (admitted.has(candidate.name)) return "twice";
  if (admitted.size >= DISCOVERY_CAPS.procedures) return "many";
  const input = cleanSchema(candidate.inputSchema);
  if (input === null) return "schema";
  // A call works without it.
  const output = candidate.outputSchema && cleanSchema(candidate.outputSchema);
  const bytes = input.bytes + (output?.bytes ?? 0);
  if (bytes > room) return "total";
  const description = cleanText(candidate.description).trim().slice(0, DISCOVERY_CAPS.descriptionCharacters);
  const schemas = { inputSchema: input.schema, outputSchema: output?.schema ?? null };
  return { procedure: { ...candidate, description: description.toWellFormed(), ...schemas }, bytes };
}

function isName(name: string): boolean {
  if (name.length > DISCOVERY_CAPS.nameCharacters || !PROCEDURE_NAME.test(name)) return false;
  return name.split(".").every((segment) => !RESERVED.has(segment));
}

export function problemOf(problems: readonly string[]): string | null {
  if (problems.length === 0) return null;
  return cleanText(problems.join(" ")).slice(0, DISCOVERY_CAPS.problemCharacters).toWellFormed();
}
