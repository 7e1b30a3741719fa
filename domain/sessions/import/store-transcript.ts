import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import { findAgent } from "../../agents/find-agent.ts";
import { type Db, queryBuilderOf } from "../../database-types.ts";
import type { SpoolFile } from "../../ports/spool.ts";
import type { Caller } from "../../shared/caller.ts";
import { ServiceError } from "../../shared/errors.ts";
import { inLockedTransaction } from "../../shared/transaction.ts";
import { addSession, findSessionOfAgent, lockAgent } from "../add-session.ts";
import { checkEntryCount, checkOpen } from "../append-entries.ts";
import { addCountsOfEntries, EntryTotals } from "../count-entries.ts";
import { toRows } from "../entry-rows.ts";
import { findKnownIds, insertRows } from "../insert-rows.ts";
import type { SessionRow } from "../session-view.ts";
import { readBatches } from "./entry-batches.ts";
import type { SpooledTranscript } from "./spool-transcript.ts";

export interface StoreTranscript {
  agentId: string;
  transcript: Pick<SpooledTranscript, "externalId" | "title" | "startedAt">;
  /** The file with the entries of the transcript. */
  entries: SpoolFile;
}

export interface StoredTranscript {
  sessionId: string;
  /** How many of the entries were new. */
  added: number;
}

/** Stores the entries of a transcript that its session does not have, in one transaction. */
export async function storeTranscript(
  root: EntityManager,
  caller: Caller,
  { agentId, transcript, entries }: StoreTranscript,
): Promise<StoredTranscript> {
  const { externalId, title, startedAt } = transcript;
  // A second import of the same transcript waits, and then finds the session of the first one.
  return inLockedTransaction(root, [`import ${agentId} ${externalId}`], async (em) => {
    const tx = queryBuilderOf(em);
    const existing = await findSessionOfAgent(tx, { orgId: caller.orgId, agentId, externalId })
      .forUpdate()
      .executeTakeFirst();
    if (existing !== undefined) checkOpen(existing);
    const { serverId } = await findAgent(tx, caller, agentId);
    const session = existing ?? { id: randomUUID(), server_id: serverId, message_count: 0 };
    const totals = await insertEntries(tx, session, entries);
    // The row of a new session comes last, because the agent is locked from here on. Entries are invisible without it.
    const stored = existing ?? (await addNewSession(tx, caller, { agentId, externalId, id: session.id, startedAt }));
    if (title !== null && title !== stored.title)
      await tx.updateTable("sessions").set({ title }).where("id", "=", stored.id).execute();
    if (totals.count > 0) await addCountsOfEntries(tx, stored, totals);
    return { sessionId: stored.id, added: totals.count };
  });
}

async function insertEntries(
  tx: Db,
  session: Pick<SessionRow, "id" | "server_id" | "message_count">,
  entries: SpoolFile,
): Promise<EntryTotals> {
  const totals = new EntryTotals();
  for await (const batch of readBatches(entries)) {
    const count = session.message_count + totals.count;
    const known = count === 0 ? new Set<string>() : await findKnownIds(tx, session.id, batch);
    const rows = toRows({ ...session, message_count: count }, batch, known);
    checkEntryCount(count + rows.length);
    if (rows.length > 0) await insertRows(tx, rows);
    totals.add(rows);
  }
  return totals;
}

async function addNewSession(
  tx: Db,
  caller: Caller,
  {
    agentId,
    externalId,
    id,
    startedAt,
  }: { agentId: string; externalId: string; id: string; startedAt: string | undefined },
) {
  const serverId = await lockAgent(tx, caller, agentId);
  const opened = await findSessionOfAgent(tx, { orgId: caller.orgId, agentId, externalId }).executeTakeFirst();
  if (opened !== undefined)
    throw new ServiceError("conflict", "The session was opened during the import. Nothing is imported. Try again.");
  const time = startedAt === undefined ? new Date() : new Date(startedAt);
  const owner = { org_id: caller.orgId, server_id: serverId, agent_id: agentId };
  return addSession(tx, { ...owner, id, external_id: externalId, title: null, time });
}
