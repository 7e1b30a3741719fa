import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Where clouds answer to any machine inside with its credentials, outside of the link-local ranges. */
const METADATA_SERVICES = new Set(["100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"]);

/** Private networks are among them because only hosts that the operator named are dialled at all. */
const REACHABLE_RANGES = new Set(["unicast", "private", "uniqueLocal", "carrierGradeNat"]);

/**
 * Whether a sandboxed command may be connected to `address`, to which the allowed `host` resolved. Link-local,
 * metadata, unspecified, multicast and reserved addresses are never reachable; loopback ones only for a host that is
 * itself a name or address of the loopback interface.
 */
export function isReachable(address: string, host: string): boolean {
  const resolved = unwrapped(ipaddr.process(address));
  if (METADATA_SERVICES.has(resolved.toString())) return false;
  return resolved.range() === "loopback" ? isLoopback(host) : REACHABLE_RANGES.has(resolved.range());
}

/** All of IPv6 that is given out for use on the internet; some of it is reserved again. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");
/** Where in an address of another NAT64 network the IPv4 one is, only that network knows. */
const WELL_KNOWN_NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * Whether `address` is one of the internet at large: of no private, shared, local, translated or reserved network, and
 * no metadata service. For hosts that somebody unknown names.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const given = ipaddr.process(address);
  if (given instanceof ipaddr.IPv6 && !given.match(GLOBAL_IPV6) && !given.match(WELL_KNOWN_NAT64)) return false;
  const resolved = unwrapped(given);
  return resolved.range() === "unicast" && !METADATA_SERVICES.has(resolved.toString());
}

/** An IPv4 address that a translating network (NAT64) presents as an IPv6 one is judged as the former. */
function unwrapped(address: Address): Address {
  if (address.range() !== "rfc6052") return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(-4));
}

function isLoopback(host: string): boolean {
  if (!ipaddr.isValid(host)) return host === "localhost";
  return ipaddr.process(host).range() === "loopback";
}
