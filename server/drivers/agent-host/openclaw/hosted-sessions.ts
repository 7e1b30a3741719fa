import type { HostedSession } from "../../../../domain/ports/agent-host.ts";
import type { GatewaySession } from "./gateway-schemas.ts";
import { toLine } from "./sanitize-hosted-text.ts";

const MAX_TITLE = 200;

/** @returns `null` for a session of no agent, which belongs to the gateway itself */
export function toHostedSession(session: GatewaySession): HostedSession | null {
  const agentId = session.agentId ?? /^agent:([^:]+):/.exec(session.key)?.[1];
  if (agentId === undefined || !session.key.isWellFormed() || session.key.includes("\0")) return null;
  const title = toLine(session.label, MAX_TITLE) || toLine(session.displayName, MAX_TITLE);
  const updatedAt = session.updatedAt ?? session.createdAt ?? 0;
  const input = session.inputTokens ?? 0;
  const output = session.outputTokens ?? 0;
  const cacheRead = session.cacheRead ?? 0;
  const cacheWrite = session.cacheWrite ?? 0;
  return {
    id: session.key,
    externalId: session.key,
    agentId,
    title: title || toLine(session.derivedTitle, MAX_TITLE) || null,
    createdAt: new Date(session.createdAt ?? updatedAt),
    updatedAt: new Date(updatedAt),
    closedAt: null,
    messageCount: null,
    tokens: {
      input,
      output,
      cache_read: cacheRead,
      cache_write: cacheWrite,
      total: input + output + cacheRead + cacheWrite,
    },
  };
}
