import type { LiveProcedure } from "../../domain/procedures/list-procedures.ts";
import { truncateText } from "../../domain/shared/response-budget.ts";
import { createCallSignature } from "../../domain/type-declarations/call-signature.ts";
import type { TypeBounds } from "../../domain/type-declarations/json-schema-to-type.ts";
import type { Tool } from "../../routers/tool-registry.ts";
import { toPortableInput } from "./tool-schema/portable-schema.ts";

/** In characters. */
const MAX_DESCRIPTION = 1000;
const MAX_OUTPUT_TYPE = 400;
const OUTPUT_BOUNDS: TypeBounds = { characters: MAX_OUTPUT_TYPE, depth: 4, properties: 12, comments: false };

/** A procedure of an app as a tool. */
export interface DirectTool {
  tool: Omit<Tool, "outputSchema">;
  /** Converts the arguments of a call to the input of the procedure. */
  toInput(args: unknown): unknown;
}

export function createDirectTool(name: string, procedure: LiveProcedure): DirectTool {
  const isQuery = procedure.kind === "query";
  const { schema, alternatives, isReduced, toInput } = toPortableInput(procedure.inputSchema, {
    isInputOptional: procedure.invocation.via === "trpc" && procedure.invocation.isInputOptional === true,
  });
  const tool = {
    name,
    title: `${procedure.slug}: ${procedure.name}`,
    description: describeTool(procedure, alternatives, isReduced),
    inputSchema: { ...schema, type: "object" as const },
    annotations: { readOnlyHint: isQuery, destructiveHint: !isQuery, idempotentHint: isQuery, openWorldHint: true },
  };
  return { tool, toInput };
}

function describeTool(procedure: LiveProcedure, alternatives: string | null, isReduced: boolean): string {
  const { slug, name, description } = procedure;
  const sentences = [`Procedure ${name} of the app ${slug}.`];
  if (description !== "") sentences.push(`The app's description: ${JSON.stringify(truncateText(description, MAX_DESCRIPTION))}`);
  if (alternatives !== null) sentences.push(`Input, exactly: ${alternatives}`);
  if (isReduced)
    sentences.push(
      "The input schema is too large to be listed completely: service_execute can print all of it with service.types().",
    );
  const output = describeOutput(procedure);
  if (output !== null) sentences.push(`Output: ${output}`);
  return sentences.join(" ");
}

/** The output as a TypeScript type; `null` when the app does not describe it, or at length. */
function describeOutput({ inputSchema, outputSchema }: LiveProcedure): string | null {
  const bounds = { input: OUTPUT_BOUNDS, output: OUTPUT_BOUNDS };
  const { output } = createCallSignature({ inputSchema, outputSchema }, bounds, null);
  return output === "unknown" || output.length > MAX_OUTPUT_TYPE ? null : output;
}
