import type { IncomingHttpHeaders } from "node:http";

/**
 * For how many seconds an answer stays right, by its own headers (RFC 9111): never negative, and 0 when it asks to be
 * looked at again each time.
 *
 * @returns `null` when it says nothing, or nothing that can be read
 */
export function freshSecondsOf(headers: IncomingHttpHeaders, now = Date.now()): number | null {
  const said = (headers["cache-control"] ?? "").toLowerCase();
  if (/(^|[\s,])(no-store|no-cache)\b/.test(said)) return 0;
  const lifetime = secondsIn(said, "s-maxage") ?? secondsIn(said, "max-age") ?? untilExpiry(headers, now);
  return lifetime === null ? null : Math.max(0, lifetime - Number(/^\d{1,9}$/.exec(headers.age ?? "")?.[0] ?? 0));
}

function secondsIn(said: string, directive: string): number | null {
  const found = new RegExp(`(?:^|[\\s,])${directive}\\s*=\\s*"?(\\d{1,9})\\b`).exec(said);
  return found === null ? null : Number(found[1]);
}

function untilExpiry({ expires, date }: IncomingHttpHeaders, now: number): number | null {
  if (expires === undefined) return null;
  const at = Date.parse(expires);
  const from = Date.parse(date ?? "");
  // A date that cannot be read means that it is over (RFC 9111, section 5.3).
  return Number.isNaN(at) ? 0 : Math.max(0, Math.floor((at - (Number.isNaN(from) ? now : from)) / 1000));
}
