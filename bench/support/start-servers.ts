import type { BareProxyCommands, BareProxyOptions } from "../processes/bare-proxy.ts";
import type { BareGatewayCommands, BareGatewayOptions } from "../processes/bare-gateway.ts";
import type { EdgeCommands, EdgeOptions } from "../processes/edge.ts";
import type { HandWrittenListCommands, HandWrittenListOptions } from "../processes/hand-written-list-apps.ts";
import type { ObjectStoreCommands } from "../processes/object-store.ts";
import type { ReferenceServerCommands } from "../processes/reference-mcp-server.ts";
import type { ServiceCommands, ServiceOptions } from "../processes/service.ts";
import { type CommandProcess, startProcess } from "./start-process.ts";

export type ServiceProcess = CommandProcess<ServiceCommands>;
export type EdgeProcess = CommandProcess<EdgeCommands>;

/** Starts the complete service. */
export function startService(options: ServiceOptions, signal: AbortSignal): Promise<ServiceProcess> {
  return startProcess(new URL("../processes/service.ts", import.meta.url), options, signal);
}

/** Starts the embedded edge platform without the control plane. */
export function startEdge(options: EdgeOptions, signal: AbortSignal): Promise<EdgeProcess> {
  return startProcess(new URL("../processes/edge.ts", import.meta.url), options, signal);
}

/** Starts an object store that several edges share. */
export function startObjectStore(signal: AbortSignal): Promise<CommandProcess<ObjectStoreCommands>> {
  return startProcess(new URL("../processes/object-store.ts", import.meta.url), {}, signal);
}

/** Starts a reverse proxy that only forwards. */
export function startBareProxy(
  options: BareProxyOptions,
  signal: AbortSignal,
): Promise<CommandProcess<BareProxyCommands>> {
  return startProcess(new URL("../processes/bare-proxy.ts", import.meta.url), options, signal);
}

/** Starts the baseline of `GET /v1/apps`. */
export function startHandWrittenList(
  options: HandWrittenListOptions,
  signal: AbortSignal,
): Promise<CommandProcess<HandWrittenListCommands>> {
  return startProcess(new URL("../processes/hand-written-list-apps.ts", import.meta.url), options, signal);
}

/** Starts a baseline of the tool gateway. */
export function startBareGateway(
  options: BareGatewayOptions,
  signal: AbortSignal,
): Promise<CommandProcess<BareGatewayCommands>> {
  return startProcess(new URL("../processes/bare-gateway.ts", import.meta.url), options, signal);
}

/** Starts the reference server of the Model Context Protocol. */
export function startReferenceServer(signal: AbortSignal): Promise<CommandProcess<ReferenceServerCommands>> {
  return startProcess(new URL("../processes/reference-mcp-server.ts", import.meta.url), {}, signal);
}
