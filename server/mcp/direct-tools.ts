import { truncateText } from "../../domain/shared/response-budget.ts";
import type { JsonSchema } from "../../domain/ports/procedure-discovery.ts";
import type { LiveProcedure } from "../../domain/procedures/list-procedures.ts";
import type { OfferedProcedures } from "../../domain/procedures/procedure-index.ts";
import { DIRECT_TOOL_OUTPUT } from "./direct-tool-result.ts";
import type { Tool } from "../../routers/tool-registry.ts";

export interface DirectTools {
  list: readonly Tool[];
  byName: ReadonlyMap<string, LiveProcedure>;
}

const made = new WeakMap<OfferedProcedures, DirectTools>();

/** The tools that an organization's small apps add. Made once for what the organization has at the moment. */
export function directTools(offered: OfferedProcedures): DirectTools {
  const known = made.get(offered);
  if (known !== undefined) return known;
  const named = [...offered.toolNames];
  const list = named.map(([procedure, name]) => toolOf(name, procedure));
  const fresh = { list, byName: new Map(named.map(([procedure, name]) => [name, procedure])) };
  made.set(offered, fresh);
  return fresh;
}

/** As much of an app's own description as a tool shows, in characters. */
const DESCRIPTION_SHOWN = 1000;

function toolOf(name: string, { slug, name: procedure, kind, description, inputSchema }: LiveProcedure): Tool {
  const reads = kind === "query";
  const shown = shownSchema(inputSchema);
  const parts = [
    `Calls the procedure ${procedure} of the app ${slug}, which ${reads ? "reads" : "writes"}.`,
    ...(shown === inputSchema ? [] : ["Its schema is too large to be listed: only names of its properties are."]),
    ...(description === ""
      ? []
      : [`The app says of it: ${JSON.stringify(truncateText(description, DESCRIPTION_SHOWN))}`]),
  ];
  return {
    name,
    title: `${slug}: ${procedure}`,
    description: parts.join(" "),
    inputSchema: { ...shown, type: "object" },
    outputSchema: DIRECT_TOOL_OUTPUT,
    annotations: { readOnlyHint: reads, destructiveHint: !reads, idempotentHint: reads, openWorldHint: true },
  };
}

/** A larger schema of an app, in characters of JSON, is not listed whole: every agent reads every list. */
const SCHEMA_LISTED = 8000;
const PROPERTIES_LISTED = 50;
const PROPERTY_NAME_LISTED = 100;

/** The schema itself, or one that accepts all that it does, and names what it takes. */
function shownSchema(schema: JsonSchema): JsonSchema {
  if (JSON.stringify(schema).length <= SCHEMA_LISTED) return schema;
  const names = Object.keys(schema["properties"] ?? {}).filter((name) => name.length <= PROPERTY_NAME_LISTED);
  return { properties: Object.fromEntries(names.slice(0, PROPERTIES_LISTED).map((name) => [name, {}])) };
}
