import type { EntityManager } from "@mikro-orm/core";
import type { Db } from "../database-types.ts";
import { AuditEvent, type AuditCredentialKind, type AuditOutcome, type TargetKind } from "./audit-event.entity.ts";
import { isTokenKind } from "../shared/caller.ts";
import { findNames, findTokenName, type Names, NO_NAMES } from "./find-names.ts";

export interface RecordEventDeps {
  em: EntityManager;
  db: Db;
}

export interface NewAuditEvent {
  action: string;
  outcome: AuditOutcome;
  orgId: string | null;
  userId: string | null;
  credential: { kind: AuditCredentialKind; id: string } | null;
  target: string | null;
  /** Required for a user and a skill. Other kinds are found by the id. */
  targetKind?: TargetKind;
  variableName?: string | null;
  address: string | null;
}

const MAX_TEXT_LENGTH = 255;

/**
 * Records actor, action, target and client address. Pass ids and names of operations only, never the content of a call.
 *
 * @param names - the names of target and credential; without it, they are looked up
 */
export async function recordEvent({ em, db }: RecordEventDeps, event: NewAuditEvent, names?: Names): Promise<void> {
  const known = names ?? (await findEventNames(db, event));
  const fork = em.fork();
  // One statement, where `flush` would send three for its transaction.
  await fork.insert(fork.create(AuditEvent, toRow(event, known), { persist: false }));
}

function findEventNames(db: Db, { orgId, target, credential }: NewAuditEvent): Promise<Names> {
  if (credential !== null && isTokenKind(credential.kind) && target === null && orgId !== null)
    return findTokenName(db, orgId, credential.id);
  return findNames(db, orgId, [target, credential?.id ?? null]);
}

/** Records an event in the transaction of `em`. */
export function addEvent(em: Pick<EntityManager, "create">, event: NewAuditEvent, names: Names = NO_NAMES): void {
  em.create(AuditEvent, toRow(event, names));
}

function toRow({ credential, targetKind, ...event }: NewAuditEvent, names: Names) {
  const target = targetKind === "skill" ? { name: event.target, kind: targetKind } : names.get(event.target ?? "");
  // An email address is personal data. It stays in the record of the invitation, where it can be erased.
  const targetName = target?.kind === "invitation" ? null : (target?.name ?? null);
  return {
    ...event,
    target: truncate(event.target),
    targetKind: targetKind ?? target?.kind ?? null,
    targetName: truncate(targetName),
    address: truncate(event.address),
    credentialKind: credential?.kind ?? null,
    credentialId: truncate(credential?.id ?? null),
    credentialName: truncate(names.get(credential?.id ?? "")?.name ?? null),
  };
}

function truncate(text: string | null): string | null {
  return text?.slice(0, MAX_TEXT_LENGTH) ?? null;
}
