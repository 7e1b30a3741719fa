import { normalizeIP } from "@better-auth/core/utils/ip";

/**
 * What limits count an address by: itself or, for IPv6, the 64 bits that a customer is given; whoever has them has all
 * the addresses below. It is also what better-auth keeps with a session.
 */
export function networkOf(address: string): string {
  return normalizeIP(address);
}
