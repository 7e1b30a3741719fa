import type { JsonSchema, ProcedureKind } from "../ports/procedure-discovery.ts";
import { type Callable, callSignature } from "../type-declarations/call-signature.ts";
import type { LiveProcedure } from "../procedures/list-procedures.ts";
import type { TypeBounds, TypeNames } from "../type-declarations/json-schema-to-type.ts";
import { block, propertyName, quoted } from "../type-declarations/typescript-syntax.ts";

/** A tool of the service, as code can call it. */
export interface ToolDeclaration {
  name: string;
  description: string;
  /** JSON Schemas. */
  inputSchema: object;
  outputSchema: object;
}

/** Of each type that a call has. */
const BOUNDS: TypeBounds = { characters: 16_000, depth: 24, properties: 200, comments: true };
/** What one type may take of the room that is left, so that a few long ones do not leave out all others. */
const SHARE_OF_TYPE = 1 / 8;

const DESCRIPTION_SHOWN = 1000;
const VERBS = { query: "Reads", mutation: "Writes" } as const satisfies Record<ProcedureKind, string>;

export function declareTools(tools: readonly ToolDeclaration[]): string {
  const types = new DeclaredTypes("ToolType");
  const members = tools.map(({ name, description, inputSchema, outputSchema }) => {
    const schemas = { inputSchema: inputSchema as JsonSchema, outputSchema: outputSchema as JsonSchema };
    return `/** ${quoted(firstSentence(description))} */\n${propertyName(name)}${callText(schemas, types, BOUNDS)}`;
  });
  return [...types.declarations, `interface ServiceTools ${block(members)}`].join("\n");
}

/**
 * Declares procedures of one app, as many as there is room for.
 *
 * @param number - of the app, which no other one has in the same text
 * @param room - in bytes
 */
export function declareApp(slug: string, procedures: readonly LiveProcedure[], number: number, room: number): string {
  const types = new DeclaredTypes(`App${number}Type`);
  const calls: Call[] = [];
  let taken = 0;
  for (const procedure of procedures) {
    const { name, kind, description } = procedure;
    const said = description === "" ? "" : `: ${quoted(description.slice(0, DESCRIPTION_SHOWN))}`;
    const comment = `/** ${VERBS[kind]}${said} */\n`;
    const left = room - taken - types.bytes;
    const bounds = { ...BOUNDS, characters: Math.min(BOUNDS.characters, left * SHARE_OF_TYPE) };
    const call = { steps: name.split("."), comment, text: callText(procedure, types, bounds) };
    taken += bytesOf(call);
    if (taken + types.bytes > room) break;
    calls.push(call);
  }
  const leftOut = procedures.length - calls.length;
  const others = leftOut > 0 ? [`/* ${leftOut} more */ [step: string]: any`] : [];
  const app = `${propertyName(slug)}: ${block([...membersOf(calls), ...others])}`;
  return [...types.declarations, `interface ServiceApps ${block([app])}`].join("\n");
}

/** The types that calls refer to by name. */
class DeclaredTypes implements TypeNames {
  readonly declarations: string[] = [];
  bytes = 0;
  readonly #prefix: string;
  #last = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  next(): string {
    return `${this.#prefix}${(this.#last += 1)}`;
  }

  declare(name: string, type: string): void {
    const declaration = `type ${name} = ${type};`;
    this.declarations.push(declaration);
    this.bytes += Buffer.byteLength(declaration);
  }
}

interface Call {
  /** What is left of its name. */
  steps: string[];
  comment: string;
  text: string;
}

function callText(callable: Callable, types: TypeNames, bounds: TypeBounds): string {
  const { input, takesNothing, output } = callSignature(callable, { input: bounds, output: bounds }, types);
  return `(input${takesNothing ? "?" : ""}: ${input}): Promise<${output}>`;
}

/** A call may be a step of others: `orders(...)` beside `orders.list(...)`. */
function membersOf(calls: readonly Call[]): string[] {
  return [...Map.groupBy(calls, ({ steps }) => steps[0] ?? "")].map(([step, group]) => {
    const own = group.find(({ steps }) => steps.length === 1);
    const further = group.filter((call) => call !== own).map((call) => ({ ...call, steps: call.steps.slice(1) }));
    const members = [...(own === undefined ? [] : [own.text]), ...membersOf(further)];
    const isAlone = own !== undefined && further.length === 0;
    return `${own?.comment ?? ""}${propertyName(step)}${isAlone ? own.text : `: ${block(members)}`}`;
  });
}

/** With the indentation that it will have. */
function bytesOf({ steps, comment, text }: Call): number {
  const indentation = 2 * (steps.length + 1);
  const [lines, braces] = [text.split("\n").length + 1, 2 * (steps.length - 1)];
  return Buffer.byteLength(`${steps.join()}${comment}${text}`) + (lines + braces) * (indentation + 4);
}

function firstSentence(description: string): string {
  return /^.*?\.(?=\s|$)/s.exec(description)?.[0] ?? description;
}
