import type { EntityManager } from "@mikro-orm/core";
import { AuditEvent, type AuditCredentialKind, type AuditOutcome } from "./audit-event.entity.ts";

export interface NewAuditEvent {
  action: string;
  outcome: AuditOutcome;
  orgId: string | null;
  userId: string | null;
  credential: { kind: AuditCredentialKind; id: string } | null;
  target: string | null;
  address: string | null;
}

const MAX_TEXT_LENGTH = 255;

/** Records actor, action, target and client address. Pass ids and names of operations only, never the content of a call. */
export async function recordEvent(em: EntityManager, event: NewAuditEvent): Promise<void> {
  const fork = em.fork();
  addEvent(fork, event);
  await fork.flush();
}

/** Records an event in the transaction of `em`. */
export function addEvent(em: Pick<EntityManager, "create">, { credential, ...event }: NewAuditEvent): void {
  em.create(AuditEvent, {
    ...event,
    target: event.target?.slice(0, MAX_TEXT_LENGTH) ?? null,
    address: event.address?.slice(0, MAX_TEXT_LENGTH) ?? null,
    credentialKind: credential?.kind ?? null,
    credentialId: credential?.id.slice(0, MAX_TEXT_LENGTH) ?? null,
  });
}
