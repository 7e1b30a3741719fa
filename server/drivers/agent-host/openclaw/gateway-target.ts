import { isIP } from "node:net";
import { AgentHostError } from "../../../../domain/ports/agent-host.ts";
import type { Lookup } from "../../../sandbox/connect-to-host.ts";
import { isInNetworks, isPublic, isPublicPort, type PortRange } from "../../../sandbox/public-address.ts";
import { resolveAddresses } from "../../../sandbox/resolve-addresses.ts";

/** Where the service connects to gateways. */
export interface TargetRules {
  /** Private networks, as addresses or CIDR ranges. Everywhere else, only `wss:` to public addresses is allowed. */
  networks: readonly string[];
  /** The ports on which it connects in these networks. */
  ports: readonly PortRange[];
  /** Resolves a host name; by default with the name servers of the machine, and without `/etc/hosts`. */
  lookup?: Lookup | undefined;
}

export type Addresses = Awaited<ReturnType<Lookup>>;

const MAX_URL_LENGTH = 500;
const LOOPBACK: Addresses = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];
const DEFAULT_PORTS: Record<string, number> = { "ws:": 80, "wss:": 443 };

/** Returns in a clause why the service never connects to this URL; `null` when it depends on the addresses of its host. */
export function findUrlProblem(text: string, rules: TargetRules): string | null {
  const url = URL.parse(text);
  if (url === null || !Object.hasOwn(DEFAULT_PORTS, url.protocol) || text.length > MAX_URL_LENGTH)
    return "must be a WebSocket URL, such as wss://gateway.example.com";
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    return "must have no credentials, no query and no fragment. Send the token in the field token";
  if (url.protocol === "ws:" && rules.networks.length === 0)
    return "must start with wss://, because without TLS the token could be read on the way";
  const host = hostOf(url);
  if (isIP(host) === 0 || isAllowed(host, url, rules)) return null;
  return isInNetworks(host, rules.networks)
    ? `must have one of the ports ${describePorts(rules.ports)}. The operator allows further ports in private networks with AGENT_HOST_PRIVATE_PORTS`
    : `must not ${NO_ADDRESS}`;
}

const NO_ADDRESS =
  "be in a network to which this service does not connect. The operator allows private networks with AGENT_HOST_PRIVATE_NETWORKS";

/**
 * Resolves the host of a URL.
 *
 * @returns the addresses to connect to, at least one
 * @throws {AgentHostError} `unreachable` when the service must not connect to any of its addresses
 */
export async function resolveTarget(url: URL, rules: TargetRules, signal: AbortSignal): Promise<Addresses> {
  const addresses = await findAddresses(hostOf(url), rules, signal);
  if (addresses.length === 0) throw new AgentHostError("unreachable", "The host name of the gateway does not resolve.");
  const allowed = addresses.filter(({ address }) => isAllowed(address, url, rules));
  if (allowed.length > 0) return allowed;
  throw new AgentHostError(
    "unreachable",
    "The gateway is in a network, or on a port, to which this service does not connect. Outside of the networks and ports that the operator allows (AGENT_HOST_PRIVATE_NETWORKS and AGENT_HOST_PRIVATE_PORTS), it connects only to public addresses over wss.",
  );
}

function findAddresses(host: string, { lookup }: TargetRules, signal: AbortSignal): Promise<Addresses> {
  const family = isIP(host);
  if (family !== 0) return Promise.resolve([{ address: host, family }]);
  // RFC 6761: `localhost` always means the loopback addresses. Name servers do not know it.
  if (host === "localhost") return Promise.resolve(LOOPBACK);
  return resolveAddresses(host, lookup ?? null, signal);
}

function isAllowed(address: string, url: URL, { networks, ports }: TargetRules): boolean {
  const port = url.port === "" ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
  if (isInNetworks(address, networks)) return ports.some(({ from, to }) => port >= from && port <= to);
  return url.protocol === "wss:" && isPublic(address) && isPublicPort(port);
}

function describePorts(ports: readonly PortRange[]): string {
  return ports.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");
}

/** IPv6 addresses are in brackets in a URL. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}
