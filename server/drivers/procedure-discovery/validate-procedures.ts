import { setImmediate } from "node:timers/promises";
import {
  type DiscoveredProcedure,
  DISCOVERY_CAPS,
  type DiscoveryResult,
  type JsonSchema,
  PROCEDURE_NAME,
} from "../../../domain/ports/procedure-discovery.ts";
import { listLeftOut, type SourceResult, summarizeLeftOut } from "./source-result.ts";

/**
 * Names that every JavaScript object has, or that `await` reads. Programs access procedures as properties of objects.
 */
const RESERVED_NAMES = new Set([...Object.getOwnPropertyNames(Object.prototype), "prototype", "then"]);

export const REJECTIONS = {
  name: `a name consists of letters, digits, _, $ and -, with dots between parts, has at most ${DISCOVERY_CAPS.nameCharacters} characters, and no part may be a reserved name of JavaScript`,
  duplicate: "an earlier procedure has the same name",
  schema: `a schema is larger than ${DISCOVERY_CAPS.schemaBytes / 1024} KiB or nested deeper than ${DISCOVERY_CAPS.schemaDepth} levels`,
  total: `the schemas of an app are larger than ${DISCOVERY_CAPS.totalBytes / 1024 / 1024} MiB together`,
  count: `an app has at most ${DISCOVERY_CAPS.procedures} procedures`,
} as const;

type Rejection = keyof typeof REJECTIONS;

/** After this time, other work of the process gets its turn. */
const TURN_MS = 5;

/** Applies the caps to the procedures that an app describes, and reports those that were left out. */
export async function validateProcedures(source: SourceResult): Promise<DiscoveryResult> {
  const accepted = new Map<string, DiscoveredProcedure>();
  const leftOut = [...(source.leftOut ?? [])];
  let remainingBytes: number = DISCOVERY_CAPS.totalBytes;
  let turnStartedAt = performance.now();
  for (const candidate of source.candidates) {
    if (performance.now() - turnStartedAt > TURN_MS) {
      await setImmediate();
      turnStartedAt = performance.now();
    }
    const result = validateCandidate(candidate, accepted, remainingBytes);
    if (typeof result === "object") {
      accepted.set(candidate.name, result.procedure);
      remainingBytes -= result.bytes;
    } else {
      leftOut.push({ name: candidate.name, reason: REJECTIONS[result] });
    }
  }
  const summary = summarizeLeftOut(leftOut);
  const problem = joinProblems([...source.problems, ...(summary === null ? [] : [summary])]);
  if (leftOut.length === 0) return { procedures: [...accepted.values()], problem };
  const lines = listLeftOut(leftOut, DISCOVERY_CAPS.leftOutCharacters).map(sanitizeText);
  return { procedures: [...accepted.values()], problem, leftOut: lines };
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

/** Removes characters that the database cannot store: NUL and lone surrogates. */
function sanitizeText(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}

/** Keywords that give the references of a schema another root, or select another dialect. */
const IDENTITY_KEYWORDS = new Set(["$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "$comment"]);

/**
 * Makes a schema safe to store and to show to agents. The result has no references outside itself and is within the
 * caps.
 *
 * @returns the schema and its size, or `null` when it is too large or nested too deep
 */
function sanitizeSchema(schema: JsonSchema): { schema: JsonSchema; bytes: number } | null {
  try {
    const sanitized = sanitizeNode(schema, 0) as JsonSchema;
    const bytes = Buffer.byteLength(JSON.stringify(sanitized));
    return bytes > DISCOVERY_CAPS.schemaBytes ? null : { schema: sanitized, bytes };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** @throws {RangeError} when the node is nested too deep */
function sanitizeNode(node: unknown, depth: number): unknown {
  if (typeof node === "string") return sanitizeText(node);
  if (typeof node !== "object" || node === null) return node;
  if (depth > DISCOVERY_CAPS.schemaDepth) throw new RangeError("The schema is nested too deep");
  if (Array.isArray(node)) return node.map((item) => sanitizeNode(item, depth + 1));
  const kept = Object.entries(node).filter(([key, value]) => isAllowed(key, value));
  return Object.fromEntries(kept.map(([key, value]) => [sanitizeText(key), sanitizeNode(value, depth + 1)]));
}

function isAllowed(key: string, value: unknown): boolean {
  if (key === "__proto__") return false;
  // A property of the input may have the name of a keyword. Its value is then a schema, not a string.
  if (typeof value !== "string") return true;
  const isReference = key === "$ref" || key === "$dynamicRef";
  return !IDENTITY_KEYWORDS.has(key) && !(isReference && !value.startsWith("#"));
}
