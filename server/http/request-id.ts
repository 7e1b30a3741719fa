import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

const HARMLESS = /^[\w.:-]{1,128}$/;

/** The caller's own request id when it is harmless to log, so that a call can be followed across services; else a new one. */
export function requestIdOf({ headers }: { headers: IncomingHttpHeaders }): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && HARMLESS.test(given) ? given : randomUUID();
}
