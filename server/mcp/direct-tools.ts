import { directTools as directToolsOf } from "../../domain/procedures/direct-tools.ts";
import type { LiveProcedure } from "../../domain/procedures/list-procedures.ts";
import type { OfferedProcedures } from "../../domain/procedures/procedure-index.ts";
import type { ProcedureResult } from "../../domain/procedures/call-procedure.ts";
import type { ToolResult } from "./tool-result.ts";
import { type Tool, TOOLS } from "./tool-table.ts";

export interface DirectTools {
  list: readonly Omit<Tool, "outputSchema">[];
  byName: ReadonlyMap<string, LiveProcedure>;
}

const RESERVED: ReadonlySet<string> = new Set(TOOLS.keys());
const made = new WeakMap<OfferedProcedures, DirectTools>();

/** The tools that an organization's small apps add. Made once for what the organization has at the moment. */
export function directTools(offered: OfferedProcedures): DirectTools {
  const known = made.get(offered);
  if (known !== undefined) return known;
  const tools = directToolsOf(offered.all, RESERVED);
  const list = tools.map(({ name, procedure }) => toolOf(name, procedure));
  const fresh = { list, byName: new Map(tools.map(({ name, procedure }) => [name, procedure])) };
  made.set(offered, fresh);
  return fresh;
}

/** As much of an app's own description as a tool shows, in characters. */
const DESCRIPTION_SHOWN = 1000;

function toolOf(
  name: string,
  { slug, name: procedure, kind, description, inputSchema }: LiveProcedure,
): Omit<Tool, "outputSchema"> {
  const reads = kind === "query";
  const own =
    description === "" ? "" : ` The app says of it: ${JSON.stringify(description.slice(0, DESCRIPTION_SHOWN))}`;
  return {
    name,
    title: `${slug}: ${procedure}`,
    description: `Calls the procedure ${procedure} of the app ${slug}, which ${reads ? "reads" : "writes"}.${own}`,
    inputSchema: { ...inputSchema, type: "object" },
    annotations: { readOnlyHint: reads, destructiveHint: !reads, idempotentHint: reads, openWorldHint: true },
  };
}

/** An app's answer as a tool's result. What the app says is handed on as data, its refusals included. */
export function resultOf(answer: ProcedureResult): ToolResult {
  const shown = answer.ok
    ? { output: answer.output ?? null }
    : { app_error: { status: answer.status, message: answer.message } };
  const content: ToolResult["content"] = [{ type: "text", text: JSON.stringify(shown) }];
  return answer.ok ? { content, structuredContent: shown } : { content, structuredContent: shown, isError: true };
}
