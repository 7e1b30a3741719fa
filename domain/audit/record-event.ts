import type { EntityManager } from "@mikro-orm/core";
import type { CredentialKind } from "../shared/caller.ts";
import { AuditEvent, type AuditOutcome } from "./audit-event.entity.ts";

export interface NewAuditEvent {
  action: string;
  outcome: AuditOutcome;
  orgId: string | null;
  userId: string | null;
  credential: { kind: CredentialKind | "session"; id: string } | null;
  target: string | null;
  address: string | null;
}

/** Writes down who did what to what, from where. Give it ids and names of operations, never what a call contained. */
export async function recordEvent(em: EntityManager, happening: NewAuditEvent): Promise<void> {
  const tx = em.fork();
  addEvent(tx, happening);
  await tx.flush();
}

/** The same in the transaction of `em`. */
export function addEvent(em: Pick<EntityManager, "create">, { credential, ...rest }: NewAuditEvent): void {
  em.create(AuditEvent, {
    ...rest,
    target: rest.target?.slice(0, 255) ?? null,
    address: rest.address?.slice(0, 255) ?? null,
    credentialKind: credential?.kind ?? null,
    credentialId: credential?.id.slice(0, 255) ?? null,
  });
}
