import type { JsonSchema, ProcedureKind } from "../ports/procedure-discovery.ts";
import type { LiveProcedure } from "../procedures/list-procedures.ts";
import { type CallSchemas, createCallSignature } from "../type-declarations/call-signature.ts";
import type { TypeBounds, TypeNames } from "../type-declarations/json-schema-to-type.ts";
import { formatBlock, formatPropertyName, quote } from "../type-declarations/typescript-syntax.ts";

/** A tool of the service that programs can call. */
export interface ToolDeclaration {
  name: string;
  description: string;
  /** JSON Schemas. */
  inputSchema: object;
  outputSchema: object;
}

/** Bounds on each type of a call. */
const BOUNDS: TypeBounds = { characters: 16_000, depth: 24, properties: 200, comments: true };
/** The share of the remaining bytes that one type may use, so that a few long types do not displace all others. */
const MAX_TYPE_SHARE = 1 / 8;

const MAX_DESCRIPTION_CHARACTERS = 1000;
const VERBS = { query: "Reads", mutation: "Writes" } as const satisfies Record<ProcedureKind, string>;

/** Declares the interface `ServiceTools`. */
export function declareTools(tools: readonly ToolDeclaration[]): string {
  const types = new TypeDeclarations("ToolType");
  const members = tools.map(({ name, description, inputSchema, outputSchema }) => {
    const schemas = { inputSchema: inputSchema as JsonSchema, outputSchema: outputSchema as JsonSchema };
    const comment = `/** ${quote(getFirstSentence(description))} */`;
    return `${comment}\n${formatPropertyName(name)}${formatCall(schemas, types, BOUNDS)}`;
  });
  return [...types.declarations, `interface ServiceTools ${formatBlock(members)}`].join("\n");
}

/**
 * Declares the procedures of one app in the interface `ServiceApps`, as many as fit.
 *
 * @param appNumber - a number that no other app in the same text has
 */
export function declareApp(
  slug: string,
  procedures: readonly LiveProcedure[],
  appNumber: number,
  maxBytes: number,
): string {
  const types = new TypeDeclarations(`App${appNumber}Type`);
  const calls: Call[] = [];
  let usedBytes = 0;
  for (const procedure of procedures) {
    const remainingBytes = maxBytes - usedBytes - types.bytes;
    const bounds = { ...BOUNDS, characters: Math.min(BOUNDS.characters, remainingBytes * MAX_TYPE_SHARE) };
    const call = {
      steps: procedure.name.split("."),
      comment: formatComment(procedure),
      text: formatCall(procedure, types, bounds),
    };
    usedBytes += measureBytes(call);
    if (usedBytes + types.bytes > maxBytes) break;
    calls.push(call);
  }
  const leftOut = procedures.length - calls.length;
  const rest = leftOut > 0 ? [`/* ${leftOut} more */ [step: string]: any`] : [];
  const app = `${formatPropertyName(slug)}: ${formatBlock([...formatMembers(calls), ...rest])}`;
  return [...types.declarations, `interface ServiceApps ${formatBlock([app])}`].join("\n");
}

/** Collects the named types of recursive schemas. */
class TypeDeclarations implements TypeNames {
  readonly declarations: string[] = [];
  bytes = 0;
  readonly #prefix: string;
  #count = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  next(): string {
    this.#count += 1;
    return `${this.#prefix}${this.#count}`;
  }

  declare(name: string, type: string): void {
    const declaration = `type ${name} = ${type};`;
    this.declarations.push(declaration);
    this.bytes += Buffer.byteLength(declaration);
  }
}

interface Call {
  /** The parts of the procedure's name that are not written yet. */
  steps: string[];
  comment: string;
  text: string;
}

function formatComment({ kind, description }: LiveProcedure): string {
  const quoted = description === "" ? "" : `: ${quote(description.slice(0, MAX_DESCRIPTION_CHARACTERS))}`;
  return `/** ${VERBS[kind]}${quoted} */\n`;
}

function formatCall(schemas: CallSchemas, types: TypeNames, bounds: TypeBounds): string {
  const { input, isInputOptional, output } = createCallSignature(schemas, { input: bounds, output: bounds }, types);
  return `(input${isInputOptional ? "?" : ""}: ${input}): Promise<${output}>`;
}

/** Groups calls by the first part of their names. A call can also contain others: `orders(...)` and `orders.list(...)`. */
function formatMembers(calls: readonly Call[]): string[] {
  return [...Map.groupBy(calls, ({ steps }) => steps[0] ?? "")].map(([step, group]) => {
    const own = group.find(({ steps }) => steps.length === 1);
    const inner = group.filter((call) => call !== own).map((call) => ({ ...call, steps: call.steps.slice(1) }));
    if (own !== undefined && inner.length === 0) return `${own.comment}${formatPropertyName(step)}${own.text}`;
    const members = [...(own === undefined ? [] : [own.text]), ...formatMembers(inner)];
    return `${own?.comment ?? ""}${formatPropertyName(step)}: ${formatBlock(members)}`;
  });
}

/** Measures a call with the indentation that it will have. */
function measureBytes({ steps, comment, text }: Call): number {
  const indentation = 2 * (steps.length + 1);
  const lines = text.split("\n").length + 1;
  const braces = 2 * (steps.length - 1);
  return Buffer.byteLength(`${steps.join()}${comment}${text}`) + (lines + braces) * (indentation + 4);
}

function getFirstSentence(description: string): string {
  return /^.*?\.(?=\s|$)/s.exec(description)?.[0] ?? description;
}
