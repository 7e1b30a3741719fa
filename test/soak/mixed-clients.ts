/** The clients of several organizations, in a process of their own: each sends one request after the other, with pauses. */
import { setTimeout as sleep } from "node:timers/promises";
import { serveCommands } from "../../bench/support/serve-commands.ts";

export interface SoakOrganization {
  apiKey: string;
  personalAccessToken: string;
}

/** What the clients have seen. */
export interface ClientReport {
  /** The response times of `GET /v1/apps`, in milliseconds. */
  listMs: number[];
  /** How many responses had each status; 0 counts lost connections. */
  statuses: Record<number, number>;
  /** One example for each status from 500 on. */
  examples: Record<number, string>;
}

export type ClientCommands = ReturnType<typeof createCommands>;

/** Between two requests of one client, in milliseconds. */
const LONGEST_PAUSE_MS = 1000;
const REQUEST_MS = 60_000;

interface ClientRequest {
  method: "GET" | "POST";
  path: string;
  body?: object;
  isGateway?: boolean;
}

const toolCall = (name: string, args: object): ClientRequest => ({
  method: "POST",
  path: "/mcp",
  body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
  isGateway: true,
});

/** The requests of a client, in turn. Every second one lists the apps. */
function createRequest(client: number, n: number, agentId: string): ClientRequest {
  const list: ClientRequest = { method: "GET", path: "/v1/apps" };
  const requests: readonly ClientRequest[] = [
    { method: "GET", path: "/v1/knowledge/search?query=travel%20approval" },
    { method: "POST", path: `/v1/agents/${agentId}/memories`, body: createMemory(client, n) },
    toolCall("service_list_apps", {}),
    { method: "GET", path: `/v1/agents/${agentId}/memories/search?q=invoice` },
    { method: "GET", path: "/v1/servers" },
    toolCall("company_knowledge_search", { query: "Who approves flights?" }),
    { method: "POST", path: "/v1/knowledge/documents", body: createDocument(client, n) },
    toolCall("service_get_usage", {}),
  ];
  return n % 2 === 0 ? list : (requests[((n - 1) / 2 + client) % requests.length] ?? list);
}

const createMemory = (client: number, n: number) => ({
  content: `Customer ${client} prefers invoice ${n % 50} by mail.`,
  kind: "preference",
});

const createDocument = (client: number, n: number) => ({
  title: `Policy ${client}`,
  kind: "policy",
  file: {
    name: `policy-${client}.md`,
    content: Buffer.from(`# Travel\n\nFlights need an approval of team ${n % 10}.\n`).toString("base64"),
  },
});

async function runClient(
  url: string,
  organization: SoakOrganization,
  client: number,
  report: ClientReport,
  signal: AbortSignal,
): Promise<void> {
  await sleep(Math.random() * LONGEST_PAUSE_MS);
  const agentId = await findAgent(url, organization);
  for (let n = 0; !signal.aborted; n++) {
    const request = createRequest(client, n, agentId);
    const startedAt = performance.now();
    const { status, text } = await send(url, organization, request);
    if (request.path === "/v1/apps") report.listMs.push(performance.now() - startedAt);
    report.statuses[status] = (report.statuses[status] ?? 0) + 1;
    if (status >= 500 || status === 0)
      report.examples[status] ??= `${request.method} ${request.path}: ${text.slice(0, 300)}`;
    await sleep(Math.random() * LONGEST_PAUSE_MS);
  }
}

async function findAgent(url: string, organization: SoakOrganization): Promise<string> {
  const { text } = await send(url, organization, { method: "GET", path: "/v1/servers" });
  const { servers } = JSON.parse(text) as { servers: { agent: { agent_id: string } }[] };
  return servers[0]?.agent.agent_id ?? "";
}

async function send(
  url: string,
  { apiKey, personalAccessToken }: SoakOrganization,
  { method, path, body, isGateway = false }: ClientRequest,
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${isGateway ? personalAccessToken : apiKey}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    return { status: 0, text: String((error as Error).cause ?? error) };
  }
}

function createCommands() {
  const stopping = new AbortController();
  const report: ClientReport = { listMs: [], statuses: {}, examples: {} };
  let running: Promise<unknown> = Promise.resolve();
  return {
    /** Starts the clients, whose number is divided among the organizations. */
    begin: (url: string, organizations: SoakOrganization[], clients: number): void => {
      const works = Array.from({ length: clients }, async (_, client) => {
        const organization = organizations[client % organizations.length];
        if (organization !== undefined) await runClient(url, organization, client, report, stopping.signal);
      });
      running = Promise.all(works);
    },
    /** Stops the clients after their current requests. */
    end: async (): Promise<ClientReport> => {
      stopping.abort();
      await running;
      return report;
    },
  };
}

await serveCommands(async () => ({ commands: createCommands(), close: async () => undefined }));
