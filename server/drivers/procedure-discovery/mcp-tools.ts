import { z } from "zod";
import { DISCOVERY_CAPS } from "../../../domain/ports/procedure-discovery.ts";
import type { Candidate, Finding } from "./source-result.ts";
import type { IsolatedApp } from "../../../domain/ports/isolated-runtime.ts";
import { JsonRpcSession } from "./mcp-client.ts";
import { UniqueNames } from "./unique-names.ts";

const ENDPOINT = "/mcp";
const MAX_PAGES = 50;

const schema = z.record(z.string(), z.unknown());

const toolSchema = z.looseObject({
  name: z.string().min(1).max(1000),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: schema.default({ type: "object" }),
  outputSchema: schema.optional().catch(undefined),
  annotations: z
    .looseObject({ readOnlyHint: z.boolean().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

type Tool = z.output<typeof toolSchema>;

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/**
 * The tools of the app's MCP endpoint; `null` when there is none.
 *
 * @throws {Unanswered}
 */
export async function mcpTools(app: IsolatedApp, signal: AbortSignal): Promise<Finding | null> {
  const session = await JsonRpcSession.open(app, ENDPOINT, signal);
  if (session === null) return null;
  const listed = await listTools(session);
  const tools = listed.flatMap((tool) => toolSchema.safeParse(tool).data ?? []);
  const malformed = listed.length - tools.length;
  const names = new UniqueNames();
  const candidates = tools.map((tool) => candidateOf(tool, names));
  return { candidates, problems: malformed === 0 ? [] : [`Left out ${malformed} malformed tools of ${ENDPOINT}.`] };
}

async function listTools(session: JsonRpcSession): Promise<unknown[]> {
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length <= DISCOVERY_CAPS.procedures; page++) {
    const result = pageSchema.safeParse(await session.call("tools/list", cursor === undefined ? {} : { cursor }));
    if (!result.success) return tools;
    tools.push(...result.data.tools);
    cursor = result.data.nextCursor;
    if (cursor === undefined) return tools;
  }
  return tools;
}

function candidateOf(tool: Tool, names: UniqueNames): Candidate {
  return {
    name: names.take(tool.name),
    kind: tool.annotations?.readOnlyHint === true ? "query" : "mutation",
    description: tool.description ?? tool.title ?? "",
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema ?? null,
    invocation: { via: "mcp", endpoint: ENDPOINT, tool: tool.name },
  };
}
