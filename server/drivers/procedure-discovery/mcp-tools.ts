import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";
import type { IsolatedApp } from "../../ports/isolated-runtime.ts";
import { DISCOVERY_CAPS, type DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";
import { withMcpClient } from "./mcp-client.ts";
import { AppResponseError } from "./request-app.ts";
import type { SourceResult } from "./source-result.ts";
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

/** Tools are validated one by one, so that a malformed tool does not invalidate its page. */
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/**
 * Lists the tools of the app's MCP endpoint.
 *
 * @returns `null` when the app has no MCP endpoint
 * @throws {AppResponseError}
 */
export async function listMcpTools(app: IsolatedApp, signal: AbortSignal): Promise<SourceResult | null> {
  return withMcpClient(app, ENDPOINT, signal, async (client) => {
    const { tools: listed, problems } = await readPages(client, signal);
    const tools = listed.flatMap((tool) => toolSchema.safeParse(tool).data ?? []);
    const malformed = listed.length - tools.length;
    if (malformed > 0) problems.push(`Left out ${malformed} malformed tools of ${ENDPOINT}.`);
    const names = new UniqueNames();
    return { candidates: tools.map((tool) => toCandidate(tool, names)), problems };
  });
}

async function readPages(client: Client, signal: AbortSignal): Promise<{ tools: unknown[]; problems: string[] }> {
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length <= DISCOVERY_CAPS.procedures; page++) {
    const result = await requestPage(client, cursor, signal);
    if (result === null)
      return { tools, problems: [`The app's MCP endpoint at ${ENDPOINT} failed to list its tools.`] };
    tools.push(...result.tools);
    cursor = result.nextCursor;
    if (cursor === undefined) break;
  }
  return { tools, problems: [] };
}

/** @returns `null` when the app responds with an error or something else than a page of tools */
async function requestPage(
  client: Client,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<z.output<typeof pageSchema> | null> {
  const params = cursor === undefined ? {} : { cursor };
  try {
    return await client.request({ method: "tools/list", params }, pageSchema, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppResponseError) throw error;
    return null;
  }
}

function toCandidate(tool: Tool, names: UniqueNames): DiscoveredProcedure {
  return {
    name: names.add(tool.name),
    kind: tool.annotations?.readOnlyHint === true ? "query" : "mutation",
    description: tool.description ?? tool.title ?? "",
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema ?? null,
    invocation: { via: "mcp", endpoint: ENDPOINT, tool: tool.name },
  };
}
