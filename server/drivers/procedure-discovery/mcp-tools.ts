import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";
import type { IsolatedApp } from "../../ports/isolated-runtime.ts";
import {
  DISCOVERY_CAPS,
  type DiscoveredProcedure,
  type JsonSchema,
  type McpInvocation,
} from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { type NegotiatedConnection, withMcpClient } from "./mcp-client.ts";
import { findParameterHeaders } from "./mcp-parameter-headers.ts";
import { AppResponseError } from "./request-app.ts";
import { quoteAppText, type SourceResult } from "./source-result.ts";
import { UniqueNames } from "./unique-names.ts";

const MAX_PAGES = 50;

const schema = z.record(z.string(), z.unknown(), "is not a JSON object");
/** Most servers name the type of the input. Without it, only an object can be meant. */
const inputSchema = schema
  .refine(({ type = "object" }) => [type].flat().includes("object"), "has another type than object")
  .transform((value): JsonSchema => ({ ...value, type: "object" }));

const toolSchema = z.looseObject({
  name: z.string("is not a text").min(1, "is empty").max(1000, "has more than 1,000 characters"),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: inputSchema.default({ type: "object" }),
  outputSchema: schema.optional().catch(undefined),
  annotations: z
    .looseObject({
      readOnlyHint: z.boolean().optional().catch(undefined),
      title: z.string().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

type Tool = z.output<typeof toolSchema>;

/** Tools are validated one by one, so that a malformed tool does not invalidate its page. */
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

/**
 * Lists the tools of the MCP endpoint of an app.
 *
 * @returns `null` when there is no MCP endpoint at this path
 * @throws {AppResponseError}
 */
export async function listToolsAt(
  app: IsolatedApp,
  endpoint: string,
  signal: AbortSignal,
): Promise<SourceResult | null> {
  return withMcpClient(app, endpoint, signal, async (client, connection) => {
    const { tools: listed, problems } = await readPages(client, endpoint, signal);
    const { tools, omitted } = validateTools(listed);
    if (omitted.length > 0) problems.push(describeOmitted(omitted, endpoint));
    const names = new UniqueNames();
    return { candidates: tools.map((tool) => toCandidate(tool, { endpoint, connection, names })), problems };
  });
}

async function readPages(
  client: Client,
  endpoint: string,
  signal: AbortSignal,
): Promise<{ tools: unknown[]; problems: string[] }> {
  const tools: unknown[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const page = await requestPage(client, cursor, signal);
    if (page === null) return { tools, problems: [`The app's MCP endpoint at ${endpoint} failed to list its tools.`] };
    tools.push(...page.tools);
    cursor = page.nextCursor ?? "";
    if (cursor === "" || tools.length > DISCOVERY_CAPS.procedures) return { tools, problems: [] };
    if (cursors.has(cursor) || cursors.size === MAX_PAGES - 1)
      return {
        tools,
        problems: [
          `The app's MCP endpoint at ${endpoint} lists its tools on more than ${MAX_PAGES} pages, or repeats a page. The tools of ${cursors.size + 1} pages were read.`,
        ],
      };
    cursors.add(cursor);
  }
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

/** Returns the tools that can be called, and for each other one its name and the reason, for the owner of the app. */
function validateTools(listed: readonly unknown[]): { tools: Tool[]; omitted: string[] } {
  const tools = new Map<string, Tool>();
  const omitted: string[] = [];
  for (const [index, item] of listed.entries()) {
    const name = isRecord(item) && typeof item["name"] === "string" && item["name"] !== "" ? item["name"] : null;
    const label = name === null ? `number ${index + 1}` : quoteAppText(name);
    const { data, error } = toolSchema.safeParse(withoutNulls(item));
    if (data === undefined) omitted.push(`${label} (${describeIssue(error)})`);
    else if (tools.has(data.name)) omitted.push(`${label} (an earlier tool has the same name)`);
    else tools.set(data.name, data);
  }
  return { tools: [...tools.values()], omitted };
}

/** Serializers of some languages write `null` for a member that is absent. */
function withoutNulls(item: unknown): unknown {
  if (!isRecord(item)) return item;
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null));
}

function describeIssue({ issues: [issue] }: z.ZodError): string {
  const member = issue?.path[0];
  return member === undefined ? "it is not a JSON object" : `its ${String(member)} ${issue?.message}`;
}

const MAX_LISTED_OMISSIONS = 10;

function describeOmitted(omitted: readonly string[], endpoint: string): string {
  const rest = omitted.length - MAX_LISTED_OMISSIONS;
  const more = rest > 0 ? ` and ${rest} more` : "";
  return `Left out ${omitted.length} malformed tools of ${endpoint}: ${omitted.slice(0, MAX_LISTED_OMISSIONS).join(", ")}${more}.`;
}

interface CandidateContext {
  endpoint: string;
  connection: NegotiatedConnection;
  names: UniqueNames;
}

function toCandidate(tool: Tool, { endpoint, connection, names }: CandidateContext): DiscoveredProcedure {
  const { revision, hasSession } = connection;
  const headers = connection.hasParameterHeaders ? findParameterHeaders(tool.inputSchema) : [];
  const invocation: McpInvocation = {
    via: "mcp",
    endpoint,
    tool: tool.name,
    ...(revision !== null && { revision }),
    hasSession,
    ...(headers.length > 0 && { headers }),
  };
  return {
    name: names.add(tool.name, "tool"),
    kind: tool.annotations?.readOnlyHint === true ? "query" : "mutation",
    description: tool.description ?? tool.title ?? tool.annotations?.title ?? "",
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema ?? null,
    invocation,
  };
}
