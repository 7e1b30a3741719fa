import type { BareGatewayCommands, BareGatewayOptions } from "../processes/bare-gateway.ts";
import type { EdgeCommands, EdgeOptions } from "../processes/edge.ts";
import type { EverythingCommands } from "../processes/reference-mcp-server.ts";
import type { HandWrittenCommands, HandWrittenOptions } from "../processes/hand-written-list-apps.ts";
import type { ServiceCommands, ServiceOptions } from "../processes/service.ts";
import { type Partner, startProcess } from "./start-process.ts";

export type Service = Partner<ServiceCommands>;
export type Edge = Partner<EdgeCommands>;

/** The whole service. */
export function startService(options: ServiceOptions, signal: AbortSignal): Promise<Service> {
  return startProcess(new URL("../processes/service.ts", import.meta.url), options, signal);
}

/** The front door and the apps, without a control plane. */
export function startEdge(options: EdgeOptions, signal: AbortSignal): Promise<Edge> {
  return startProcess(new URL("../processes/edge.ts", import.meta.url), options, signal);
}

/** What the list of apps is compared with. */
export function startHandWritten(
  options: HandWrittenOptions,
  signal: AbortSignal,
): Promise<Partner<HandWrittenCommands>> {
  return startProcess(new URL("../processes/hand-written-list-apps.ts", import.meta.url), options, signal);
}

/** What the tool gateway is compared with. */
export function startBareGateway(
  options: BareGatewayOptions,
  signal: AbortSignal,
): Promise<Partner<BareGatewayCommands>> {
  return startProcess(new URL("../processes/bare-gateway.ts", import.meta.url), options, signal);
}

/** The protocol's reference server. */
export function startEverything(signal: AbortSignal): Promise<Partner<EverythingCommands>> {
  return startProcess(new URL("../processes/reference-mcp-server.ts", import.meta.url), {}, signal);
}
