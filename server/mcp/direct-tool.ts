import type { JsonSchema } from "../../domain/ports/procedure-discovery.ts";
import type { LiveProcedure } from "../../domain/procedures/list-procedures.ts";
import { isRecord } from "../../domain/shared/json.ts";
import { truncateText } from "../../domain/shared/response-budget.ts";
import type { Tool } from "../../routers/tool-registry.ts";
import { DIRECT_TOOL_OUTPUT } from "./direct-tool-result.ts";

/** In characters. */
const MAX_DESCRIPTION = 1000;

/** Describes a procedure of an app as a tool. */
export function createDirectTool(
  name: string,
  { slug, name: procedure, kind, description, inputSchema }: LiveProcedure,
): Tool {
  const isQuery = kind === "query";
  const listedSchema = limitSchema(inputSchema);
  const sentences = [`Calls the procedure ${procedure} of the app ${slug}, which ${isQuery ? "reads" : "writes"}.`];
  if (listedSchema !== inputSchema)
    sentences.push("The input schema is too large to be listed: only names and types of properties are listed.");
  if (description !== "")
    sentences.push(`The app's description: ${JSON.stringify(truncateText(description, MAX_DESCRIPTION))}`);
  return {
    name,
    title: `${slug}: ${procedure}`,
    description: sentences.join(" "),
    inputSchema: { ...listedSchema, type: "object" },
    outputSchema: DIRECT_TOOL_OUTPUT,
    annotations: { readOnlyHint: isQuery, destructiveHint: !isQuery, idempotentHint: isQuery, openWorldHint: true },
  };
}

/** A larger schema, in characters of JSON, is not listed completely, because every agent reads every list. */
const MAX_SCHEMA = 8000;
const MAX_PROPERTIES = 50;
const MAX_PROPERTY_NAME = 100;

function keepType(property: unknown): JsonSchema {
  const type = isRecord(property) ? property["type"] : undefined;
  return typeof type === "string" ? { type } : {};
}

/** Returns the schema itself, or one that accepts every input of it, with the names and types of its properties. */
function limitSchema(schema: JsonSchema): JsonSchema {
  if (JSON.stringify(schema).length <= MAX_SCHEMA) return schema;
  const properties = Object.entries(schema["properties"] ?? {}).filter(([name]) => name.length <= MAX_PROPERTY_NAME);
  const listed = properties.slice(0, MAX_PROPERTIES).map(([name, property]) => [name, keepType(property)] as const);
  return { properties: Object.fromEntries(listed) };
}
