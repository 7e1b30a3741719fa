import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Addresses, outside the link-local ranges, at which clouds give any machine inside its credentials. */
const METADATA_SERVICES = new Set(["100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"]);

/** They include private networks, because a command only connects to hosts that the operator allowed. */
const REACHABLE_RANGES = new Set(["unicast", "private", "uniqueLocal", "carrierGradeNat"]);

/**
 * Whether a sandboxed command may connect to `address`, to which the allowed `host` resolved. Link-local, metadata,
 * unspecified, multicast and reserved addresses are never reachable. Loopback addresses are reachable only if the host
 * is itself a name or address of the loopback interface.
 */
export function isReachable(address: string, host: string): boolean {
  const resolved = withoutNat64(ipaddr.process(address));
  if (METADATA_SERVICES.has(resolved.toString())) return false;
  return resolved.range() === "loopback" ? isLoopback(host) : REACHABLE_RANGES.has(resolved.range());
}

/** The IPv6 addresses that are assigned for use on the internet. Parts of the range are reserved. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");
/** Other NAT64 networks are not public: only they know where their addresses contain the IPv4 address. */
const WELL_KNOWN_NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * Whether `address` is public: not in a private, shared, local, translated or reserved network, and not a metadata
 * service. For hosts that an untrusted party names.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const given = ipaddr.process(address);
  if (given instanceof ipaddr.IPv6 && !given.match(GLOBAL_IPV6) && !given.match(WELL_KNOWN_NAT64)) return false;
  const resolved = withoutNat64(given);
  return resolved.range() === "unicast" && !METADATA_SERVICES.has(resolved.toString());
}

/** Ports from `from` to `to`, both included. */
export interface PortRange {
  from: number;
  to: number;
}

/** The ports of HTTP and HTTPS, and those of no system service. The others would let untrusted parties send mail, for example. */
export function isPublicPort(port: number): boolean {
  return port === 80 || port === 443 || port >= 1024;
}

/**
 * Whether `address` is in one of the networks that the operator allows, given in CIDR notation. Link-local, unspecified and
 * multicast addresses and metadata services are in none.
 */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const resolved = withoutNat64(ipaddr.process(address));
  const range = resolved.range();
  if (METADATA_SERVICES.has(resolved.toString()) || !(range === "loopback" || REACHABLE_RANGES.has(range)))
    return false;
  return networks.some((network) => {
    const [base, bits] = network.includes("/") ? ipaddr.parseCIDR(network) : wholeAddress(network);
    return base.kind() === resolved.kind() && resolved.match(base, bits);
  });
}

function wholeAddress(address: string): [Address, number] {
  const parsed = ipaddr.parse(address);
  return [parsed, parsed.kind() === "ipv4" ? 32 : 128];
}

/** The IPv4 address inside an IPv6 address of a translating network (NAT64); other addresses as they are. */
function withoutNat64(address: Address): Address {
  if (address.range() !== "rfc6052") return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(-4));
}

function isLoopback(host: string): boolean {
  if (!ipaddr.isValid(host)) return host === "localhost";
  return ipaddr.process(host).range() === "loopback";
}
