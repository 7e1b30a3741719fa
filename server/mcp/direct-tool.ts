import { acceptsNoInput, type JsonSchema } from "../../domain/ports/procedure-discovery.ts";
import type { LiveProcedure } from "../../domain/procedures/list-procedures.ts";
import { truncateForJson } from "../../domain/shared/response-budget.ts";
import { createCallSignature } from "../../domain/type-declarations/call-signature.ts";
import type { TypeBounds } from "../../domain/type-declarations/json-schema-to-type.ts";
import { quote } from "../../domain/type-declarations/typescript-syntax.ts";
import type { Tool } from "../../routers/tool-registry.ts";
import { toPortableInput } from "./tool-schema/portable-schema.ts";

/** The longest description that every model API accepts, in characters. */
const MAX_DESCRIPTION = 1024;
/** In characters. The description of the app gets what the other sentences leave. */
const MAX_OUTPUT_TYPE = 200;
const MAX_ALTERNATIVES = 400;
const OUTPUT_BOUNDS: TypeBounds = { characters: MAX_OUTPUT_TYPE, depth: 4, properties: 12, comments: false };

/** A procedure of an app as a tool. */
export interface DirectTool {
  tool: Omit<Tool, "inputSchema" | "outputSchema"> & { inputSchema: JsonSchema };
  /** Converts the arguments of a call to the input of the procedure. */
  toInput(args: unknown): unknown;
}

export function createDirectTool(name: string, procedure: LiveProcedure): DirectTool {
  const isQuery = procedure.kind === "query";
  const { schema, alternatives, isReduced, toInput } = toPortableInput(procedure.inputSchema, {
    isInputOptional: acceptsNoInput(procedure.invocation),
  });
  const tool = {
    name,
    title: `${procedure.slug}: ${procedure.name}`,
    description: describeTool(procedure, alternatives, isReduced),
    inputSchema: schema,
    annotations: { readOnlyHint: isQuery, destructiveHint: !isQuery, idempotentHint: isQuery, openWorldHint: true },
  };
  return { tool, toInput };
}

function describeTool(procedure: LiveProcedure, alternatives: string | null, isReduced: boolean): string {
  const { slug, name, description } = procedure;
  const sentences = [`Procedure ${name} of the app ${slug}.`];
  if (isReduced)
    sentences.push(`Parts of its input are not listed: service.types(${quote(slug)}) in a program returns all.`);
  if (alternatives !== null && alternatives.length <= MAX_ALTERNATIVES) sentences.push(`Input: ${alternatives}.`);
  const output = describeOutput(procedure);
  if (output !== null) sentences.push(`Output: ${output}.`);
  const text = sentences.join(" ");
  if (description === "") return text;
  const quoted = truncateForJson(description, MAX_DESCRIPTION - text.length - ENVELOPE_CHARACTERS);
  return `${text} The app's description: ${JSON.stringify(quoted)}`;
}

/** The characters around the description of the app. */
const ENVELOPE_CHARACTERS = " The app's description: ''".length;

/** The output as a TypeScript type; `null` when the app does not describe it, or at length. */
function describeOutput({ inputSchema, outputSchema }: LiveProcedure): string | null {
  const bounds = { input: OUTPUT_BOUNDS, output: OUTPUT_BOUNDS };
  const { output } = createCallSignature({ inputSchema, outputSchema }, bounds, null);
  return output === "unknown" || output.length > MAX_OUTPUT_TYPE ? null : output;
}
