import { once } from "node:events";
import http from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { JSON_CONTENT } from "../support/mcp-client.ts";
import { callRest, type RestClient } from "../support/rest-client.ts";
import { commitFiles } from "./commit-files.ts";
import { INVOICES, NEWSLETTER, SHOP } from "./sample-repositories.ts";

/** What the user who asks for the jobs knows. */
export interface Situation {
  /** When the shop and the invoices responded with 500. */
  noon: Date;
  /** The repository to deploy. */
  repository: string;
  /** Requests the URL of an app, as a browser does. */
  visit(url: string): Promise<{ status: number; text: string }>;
}

export interface PreparedFolders {
  /** With the folder `repositories`, from which the service clones. */
  folder: string;
}

/** Deploys apps and stores what colleagues and agents have done, all over REST, before a user asks for something. */
export async function prepareOrganization(rest: RestClient, { folder }: PreparedFolders): Promise<Situation> {
  const { signal } = rest;
  const visit = (url: string) => visitApp(url, signal);
  await commitFiles(folder, "acme/shop", SHOP.working, signal);
  await commitFiles(folder, "acme/invoices", INVOICES, signal);
  await commitFiles(folder, "acme/newsletter", NEWSLETTER, signal);
  const invoices = await deployUntilReady(rest, "/v1/apps/deploy", { repo: "acme/invoices" });
  const shop = await deployUntilReady(rest, "/v1/apps/deploy", { repo: "acme/shop" });
  await commitFiles(folder, "acme/shop", SHOP.broken, signal);
  await deployUntilReady(rest, `/v1/apps/${shop.id}/deployments`, {});
  const noon = new Date();
  await visit(`${shop.url}/price`);
  await visit(`${invoices.url}/invoices/6/send`);
  for (const { id } of [shop, invoices]) await untilErrorIsLogged(rest, id);
  await storeAgentWork(rest);
  await storeKnowledge(rest);
  return { noon, repository: "acme/newsletter", visit };
}

interface AppDetail {
  id: string;
  url: string;
  status: string;
  error: string | null;
}

async function deployUntilReady(rest: RestClient, path: string, body: object): Promise<AppDetail> {
  const { app_id: id } = await callRest<{ app_id: string }>(rest, path, body);
  for (;;) {
    const app = await callRest<AppDetail>(rest, `/v1/apps/${id}`);
    if (app.status === "ready") return app;
    if (app.status === "failed") throw new Error(`The deployment failed: ${app.error}`);
    await sleep(50, undefined, { signal: rest.signal });
  }
}

/** What an app prints arrives shortly after its response. */
async function untilErrorIsLogged(rest: RestClient, id: string): Promise<void> {
  for (;;) {
    const { logs } = await callRest<{ logs: unknown[] }>(rest, `/v1/apps/${id}/runtime-logs?level=error`);
    if (logs.length > 0) return;
    await sleep(50, undefined, { signal: rest.signal });
  }
}

async function visitApp(url: string, signal: AbortSignal): Promise<{ status: number; text: string }> {
  const { port, host, pathname: path } = new URL(url);
  const request = http.get({ host: "127.0.0.1", port, path, headers: { host }, agent: false, signal });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  return { status: response.statusCode ?? 0, text: await text(response) };
}

const DAY_MS = 86_400_000;

/** The main agent has new instructions, and another agent has worked yesterday. */
async function storeAgentWork(rest: RestClient): Promise<void> {
  const { servers } = await callRest<{ servers: { server_id: string; agent: { agent_id: string } }[] }>(
    rest,
    "/v1/servers",
  );
  const [server] = servers;
  if (server === undefined) throw new Error("The organization has no server.");
  const { agent_id: mainId } = server.agent;
  await putJson(rest, `/v1/agents/${mainId}/instructions`, { content: "# Rules\nAnswer in French.\n" });
  const agent = { server_id: server.server_id, name: "Bookkeeper" };
  const { agent_id: otherId } = await callRest<{ agent_id: string }>(rest, "/v1/agents", agent);
  const yesterday = new Date(Date.now() - DAY_MS).toISOString();
  const session = { external_id: "close", title: "Closing of the month", created_at: yesterday };
  const { session_id: sessionId } = await callRest<{ session_id: string }>(
    rest,
    `/v1/agents/${otherId}/sessions`,
    session,
  );
  const entries = [
    { id: "1", role: "user", content: "Close the month.", created_at: yesterday },
    {
      id: "2",
      role: "assistant",
      content: "I have booked 12 invoices and found one without an order.",
      created_at: yesterday,
    },
  ];
  await callRest(rest, `/v1/sessions/${sessionId}/entries`, { entries });
  await callRest(rest, `/v1/agents/${mainId}/memories`, {
    kind: "commitment",
    content: "On 3 March we decided with Acme: refunds are paid within ten days, not thirty.",
  });
}

async function storeKnowledge(rest: RestClient): Promise<void> {
  await callRest(rest, "/v1/knowledge/documents", {
    kind: "policy",
    title: "Refunds",
    content: "# Refunds\n\nRefunds are paid within thirty days, unless a contract says otherwise.\n",
  });
}

async function putJson({ url, token, signal }: RestClient, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, ...JSON_CONTENT };
  const response = await fetch(`${url}${path}`, { method: "PUT", headers, body: JSON.stringify(body), signal });
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
}
