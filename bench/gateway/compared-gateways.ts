import assert from "node:assert/strict";
import type { Answer } from "../processes/bare-gateway.ts";
import type { Measured } from "../processes/generate-load.ts";
import { type LoadGenerator, startLoadGenerator } from "../support/load-generator.ts";
import { callOf, callTool, listTools, modernCallOf } from "../support/mcp-client.ts";
import { type Service, startBareGateway, startEverything, startService } from "../support/start-servers.ts";
import type { Bench } from "../support/bench-section.ts";
import { echoSessions } from "./echo-sessions.ts";
import { callers, lookedAt, type Side } from "./compared-request.ts";

/**
 * How many organizations call in one measurement, each connection for the same number of them. No more than the gateway
 * keeps the procedures of, which `tools/list` needs.
 */
const CALLERS = 96;
/** Every measurement has other callers than the last few, so that none of them comes to the limit of its calls. */
const GROUPS = 16;

const TOOL = "service_list_apps";
const MODERN = modernCallOf(TOOL, {});

export interface Sides {
  call: Side;
  list: Side;
  modern: Side;
  rest: Side;
  mcpServerCall: Side;
  mcpServerList: Side;
  mcpServerModern: Side;
  minimalCall: Side;
  minimalList: Side;
  echo: Side;
}

export interface Contenders extends AsyncDisposable {
  sides: Sides;
  fire(side: Side, seconds: number): Promise<Measured>;
}

/** Starts all servers that are compared, on the same machine at the same time; only one is asked at a time. */
export async function openContenders(
  { folder, signal }: Bench,
  { databaseUrl, apps, connections }: { databaseUrl: string; apps: number; connections: number },
): Promise<Contenders> {
  await using opening = new AsyncDisposableStack();
  const service = opening.use(await startService({ databaseUrl, dataDirectory: folder }, signal));
  const ours = await sidesOfService(service, apps, signal);
  const answer = await answerOf(ours.call, signal);
  const mcpServer = opening.use(await startBareGateway({ kind: "McpServer", answer }, signal));
  const minimal = opening.use(await startBareGateway({ kind: "Server", answer }, signal));
  const everything = opening.use(await startEverything(signal));
  const generator = opening.use(await startLoadGenerator(signal));
  const at = async (bare: typeof mcpServer, side: Side, name: string) =>
    lookedAt({ ...side, name, url: `${await bare.ask("publicUrl")}/mcp` }, signal);
  const sides = {
    ...ours,
    mcpServerCall: await at(mcpServer, ours.call, "bare McpServer"),
    mcpServerList: await at(mcpServer, ours.list, "bare McpServer"),
    mcpServerModern: await at(mcpServer, ours.modern, "bare McpServer"),
    minimalCall: await at(minimal, ours.call, "bare Server"),
    minimalList: await at(minimal, ours.list, "bare Server"),
    echo: await lookedAt(await echoSessions(await everything.ask("publicUrl"), connections, signal), signal),
  };
  for (const side of [sides.mcpServerCall, sides.minimalCall])
    assert.equal(side.answerLength, ours.call.answerLength, "all must answer the same");
  const opened = opening.move();
  const fire = inTurn(generator, connections);
  return { sides, fire, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function sidesOfService(
  service: Service,
  apps: number,
  signal: AbortSignal,
): Promise<Pick<Sides, "call" | "list" | "modern" | "rest">> {
  const organizations = await service.ask("foundMany", GROUPS * CALLERS, apps);
  const publicUrl = await service.ask("publicUrl");
  const tokens = organizations.map((organization) => organization.personal_access_token);
  const keys = organizations.map((organization) => organization.api_key);
  const post = { method: "POST", url: `${publicUrl}/mcp` } as const;
  const call = { ...post, name: "tools/call", body: callOf(TOOL, {}), headers: callers(tokens) };
  const list = { ...post, name: "tools/list", body: listTools(), headers: callers(tokens) };
  const modern = { ...post, name: "tools/call of 2026-07-28", ...MODERN, headers: callers(tokens, MODERN.headers) };
  const rest = { name: "REST", url: `${publicUrl}/v1/apps`, headers: callers(keys, {}) };
  return {
    call: await lookedAt(call, signal),
    list: await lookedAt(list, signal),
    modern: await lookedAt(modern, signal),
    rest: await lookedAt(rest, signal),
  };
}

/** Measures a side with the next of its callers. */
function inTurn(generator: LoadGenerator, connections: number): Contenders["fire"] {
  const turns = new Map<Side, number>();
  return (side, seconds) => {
    const { name: _name, headers, ...request } = side;
    const turn = turns.get(side) ?? 0;
    turns.set(side, turn + 1);
    const from = (turn * CALLERS) % headers.length;
    return generator.ask("fire", { ...request, headers: headers.slice(from, from + CALLERS), connections, seconds });
  };
}

/** What the gateway answers the first of the callers. */
function answerOf({ url, headers }: Side, signal: AbortSignal): Promise<Answer> {
  const token = headers[0]?.["authorization"]?.slice("Bearer ".length) ?? "";
  return callTool({ url, token, signal }, TOOL, {});
}
