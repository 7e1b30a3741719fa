import assert from "node:assert/strict";
import type { ListAppsResult } from "../processes/bare-gateway.ts";
import type { LoadResult } from "../processes/generate-load.ts";
import type { BenchContext } from "../support/bench-section.ts";
import { type LoadGenerator, startLoadGenerator } from "../support/load-generator.ts";
import { callTool, callToolBody, callToolRequest2026, listToolsBody } from "../support/mcp-client.ts";
import { type ServiceProcess, startBareGateway, startReferenceServer, startService } from "../support/start-servers.ts";
import { type ComparedRequest, headersByToken, probeRequest } from "./compared-request.ts";
import { openEchoSessions } from "./echo-sessions.ts";

/**
 * The number of organizations that call in one measurement. It is below the number of organizations whose procedures the
 * gateway caches, which `tools/list` reads.
 */
const CALLERS = 96;
/** Consecutive measurements use different groups of callers, so that no organization exceeds its rate limit. */
const GROUPS = 16;

const TOOL = "service_list_apps";
const REQUEST_2026 = callToolRequest2026(TOOL, {});

export interface ComparedRequests {
  call: ComparedRequest;
  list: ComparedRequest;
  call2026: ComparedRequest;
  rest: ComparedRequest;
  mcpServerCall: ComparedRequest;
  mcpServerList: ComparedRequest;
  mcpServerCall2026: ComparedRequest;
  serverCall: ComparedRequest;
  serverList: ComparedRequest;
  echo: ComparedRequest;
}

type ServiceRequests = Pick<ComparedRequests, "call" | "list" | "call2026" | "rest">;

export interface ComparedGateways extends AsyncDisposable {
  requests: ComparedRequests;
  measureLoad(request: ComparedRequest, seconds: number): Promise<LoadResult>;
}

/** Starts all compared servers. Only one of them gets requests at a time. */
export async function openComparedGateways(
  { folder, signal }: BenchContext,
  { databaseUrl, apps, connections }: { databaseUrl: string; apps: number; connections: number },
): Promise<ComparedGateways> {
  await using opening = new AsyncDisposableStack();
  const service = opening.use(await startService({ databaseUrl, dataDirectory: folder }, signal));
  const ofService = await prepareServiceRequests(service, apps, signal);
  const result = await callListApps(ofService.call, signal);
  const mcpServer = opening.use(await startBareGateway({ kind: "McpServer", result }, signal));
  const server = opening.use(await startBareGateway({ kind: "Server", result }, signal));
  const reference = opening.use(await startReferenceServer(signal));
  const generator = opening.use(await startLoadGenerator(signal));
  const sendTo = async (gateway: typeof server, request: ComparedRequest, name: string) =>
    probeRequest({ ...request, name, url: `${await gateway.call("publicUrl")}/mcp` }, signal);
  const echo = await openEchoSessions(await reference.call("publicUrl"), connections, signal);
  const requests = {
    ...ofService,
    mcpServerCall: await sendTo(mcpServer, ofService.call, "bare McpServer"),
    mcpServerList: await sendTo(mcpServer, ofService.list, "bare McpServer"),
    mcpServerCall2026: await sendTo(mcpServer, ofService.call2026, "bare McpServer"),
    serverCall: await sendTo(server, ofService.call, "bare Server"),
    serverList: await sendTo(server, ofService.list, "bare Server"),
    echo: await probeRequest(echo, signal),
  };
  for (const request of [requests.mcpServerCall, requests.serverCall])
    assert.equal(request.responseLength, ofService.call.responseLength, "the responses must be equal");
  const opened = opening.move();
  const measureLoad = rotateCallers(generator, connections);
  return { requests, measureLoad, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function prepareServiceRequests(
  service: ServiceProcess,
  apps: number,
  signal: AbortSignal,
): Promise<ServiceRequests> {
  const organizations = await service.call("createOrganizations", GROUPS * CALLERS, apps);
  const publicUrl = await service.call("publicUrl");
  const tokens = organizations.map((organization) => organization.personal_access_token);
  const keys = organizations.map((organization) => organization.api_key);
  const post = { method: "POST", url: `${publicUrl}/mcp` } as const;
  const call = { ...post, name: "tools/call", body: callToolBody(TOOL, {}), headers: headersByToken(tokens) };
  const list = { ...post, name: "tools/list", body: listToolsBody(), headers: headersByToken(tokens) };
  const headers2026 = headersByToken(tokens, REQUEST_2026.headers);
  const call2026 = { ...post, name: "tools/call of 2026-07-28", body: REQUEST_2026.body, headers: headers2026 };
  const rest = { name: "REST", url: `${publicUrl}/v1/apps`, headers: headersByToken(keys, {}) };
  return {
    call: await probeRequest(call, signal),
    list: await probeRequest(list, signal),
    call2026: await probeRequest(call2026, signal),
    rest: await probeRequest(rest, signal),
  };
}

/** Measures each request with its next group of callers. */
function rotateCallers(generator: LoadGenerator, connections: number): ComparedGateways["measureLoad"] {
  const measurements = new Map<ComparedRequest, number>();
  return (request, seconds) => {
    const { name: _name, headers, ...load } = request;
    const measurement = measurements.get(request) ?? 0;
    measurements.set(request, measurement + 1);
    const start = (measurement * CALLERS) % headers.length;
    const group = headers.slice(start, start + CALLERS);
    return generator.call("generateLoad", { ...load, headers: group, connections, seconds });
  };
}

/** Returns the gateway's result for the first caller. */
function callListApps({ url, headers }: ComparedRequest, signal: AbortSignal): Promise<ListAppsResult> {
  const token = headers[0]?.["authorization"]?.slice("Bearer ".length) ?? "";
  return callTool({ url, token, signal }, TOOL, {});
}
