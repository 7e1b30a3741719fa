import ipaddr from "ipaddr.js";
import { z } from "zod";
import type { PortRange } from "../sandbox/public-address.ts";

/** Addresses and CIDR ranges, separated by commas. A range of all addresses is invalid. */
export const networks = z
  .string()
  .transform((list) => list.split(",").map((range) => range.trim()))
  .refine((ranges) => ranges.every(isRange), {
    error: "must be addresses or CIDR ranges, separated by commas, such as 127.0.0.1,10.0.0.0/8",
  })
  .optional();

/** That of HTTPS, and the default of OpenClaw. */
export const DEFAULT_AGENT_HOST_PORTS = "443,18789";

const MAX_PORT = 65_535;

/** One port. Port 0 selects a free one. */
export const portNumber = (example: number) => {
  const error = `must be a port number from 0 to ${MAX_PORT}, such as ${example}`;
  return z
    .string()
    .regex(/^\d{1,5}$/, error)
    .transform(Number)
    .refine((value) => value <= MAX_PORT, error);
};

export const ports = z
  .string()
  .transform((list) => list.split(",").map((range) => parsePorts(range.trim())))
  .refine((ranges) => ranges.every(({ from, to }) => from >= 1 && from <= to && to <= MAX_PORT), {
    error: "must be ports or ranges of ports, separated by commas, such as 443,18789-18799",
  });

/** Returns `NaN` for what is not a number. */
function parsePorts(text: string): PortRange {
  const [from = "", to = from, ...more] = text.split("-");
  const isValid = more.length === 0 && [from, to].every((port) => /^\d{1,5}$/.test(port));
  return isValid ? { from: Number(from), to: Number(to) } : { from: Number.NaN, to: Number.NaN };
}

function isRange(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  if (
    more.length > 0 ||
    !/[.:]/.test(address) ||
    !(ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address))
  )
    return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (address.includes(":") ? 128 : 32));
}
