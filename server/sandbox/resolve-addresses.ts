import { Resolver } from "node:dns/promises";
import { raceWithSignal } from "../../domain/shared/race-with-signal.ts";
import type { Lookup } from "./connect-to-host.ts";

type Addresses = Awaited<ReturnType<Lookup>>;

/**
 * The number of addresses of each family that are tried. The owner of a host name can list any number, including
 * addresses of other hosts.
 */
const MAX_ADDRESSES = 3;

/** @throws the reason of the signal when it is aborted */
export async function resolveAddresses(host: string, lookup: Lookup | null, signal: AbortSignal): Promise<Addresses> {
  return raceWithSignal(lookup === null ? queryNameServers(host, signal) : lookup(host), signal);
}

/**
 * Queries the name servers directly. The resolver of the operating system would block a thread of the pool that all file
 * operations share, for as long as the client's name server delays its response.
 */
async function queryNameServers(host: string, signal: AbortSignal): Promise<Addresses> {
  const resolver = new Resolver();
  signal.addEventListener("abort", () => resolver.cancel(), { once: true });
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return [...firstAddresses(ipv4, 4), ...firstAddresses(ipv6, 6)];
}

function firstAddresses(result: PromiseSettledResult<string[]>, family: number): Addresses {
  if (result.status === "rejected") return [];
  return result.value.slice(0, MAX_ADDRESSES).map((address) => ({ address, family }));
}
