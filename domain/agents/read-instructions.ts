import { callHost } from "./call-host.ts";
import { findAgent } from "./find-agent.ts";
import { type OpenHostDeps, openAgent } from "./open-host.ts";
import type { Db } from "../database-types.ts";
import type { HostedInstructions } from "../ports/agent-host.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { decodeNumberCursor, encodeNumberCursor } from "../shared/keyset-cursor.ts";
import { selectNewestRevision, versionOf } from "./store-revision.ts";

export interface ReadRevisionsDeps {
  db: Db;
}

export interface Instructions {
  agent_id: string;
  /** The AGENTS.md; empty when the agent has none. */
  content: string;
  /** The SHA-256 of the content in UTF-8, in hex. */
  content_hash: string;
  /** The number of the revision with the current content; 0 when it is not stored as one. */
  revision: number;
  updated_at: string;
}

/**
 * Reads the AGENTS.md of an agent, where it is.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `unavailable` or `conflict` when its host does
 *   not return it
 */
export async function readInstructions(
  access: OpenHostDeps,
  caller: Caller,
  agentId: string | undefined,
): Promise<Instructions> {
  const { agent, host, hostedId } = await openAgent(access, caller, agentId);
  const current = await callHost((signal) => host.readInstructions(hostedId, signal));
  return {
    agent_id: agent.id,
    content: current.content,
    content_hash: current.hash,
    revision: current.revision ?? (await findRevision(access.db, agent.id, current)),
    updated_at: toIsoTimestamp(current.updatedAt ?? agent.createdAt),
  };
}

/** Returns the number of the newest revision if it has this content, and otherwise 0. */
async function findRevision(db: Db, agentId: string, { hash }: HostedInstructions): Promise<number> {
  const newest = await selectNewestRevision(db, agentId);
  return newest !== undefined && versionOf(newest).hash === hash ? newest.number : 0;
}

export interface RevisionView {
  number: number;
  content_hash: string;
  size_bytes: number;
  /** The revision whose content this one restored. */
  reverted_to: number | null;
  created_at: string;
  /** `null` when no user is known. */
  user_id: string | null;
  credential_kind: string;
  credential_id: string;
}

export interface RevisionPage {
  revisions: RevisionView[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

/**
 * Lists the revisions of an agent's AGENTS.md, newest first, without their content.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `invalid` for a cursor that this service did
 *   not return
 */
export async function listRevisions(
  { db }: ReadRevisionsDeps,
  caller: Caller,
  { id, limit = 20, cursor }: { id: string; limit?: number | undefined; cursor?: string | undefined },
): Promise<RevisionPage> {
  const agent = await findAgent(db, caller, id);
  const rows = await selectRevisions(db, agent.id)
    .$if(cursor !== undefined, (query) => query.where("number", "<", decodeNumberCursor(cursor ?? "", 9)))
    .orderBy("number", "desc")
    .limit(limit + 1)
    .execute();
  const revisions = rows.slice(0, limit).map(toRevisionView);
  const last = revisions.at(-1);
  return {
    revisions,
    next_cursor: rows.length > limit && last !== undefined ? encodeNumberCursor(last.number) : null,
  };
}

/**
 * Reads one revision with its content.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent, or the agent no such revision
 */
export async function getRevision(
  { db }: ReadRevisionsDeps,
  caller: Caller,
  { id, number }: { id: string; number: number },
): Promise<RevisionView & { content: string }> {
  const agent = await findAgent(db, caller, id);
  const row = await selectRevisions(db, agent.id).select("content").where("number", "=", number).executeTakeFirst();
  if (row === undefined) throw revisionNotFound();
  return { ...toRevisionView(row), content: row.content };
}

function selectRevisions(db: Db, agentId: string) {
  return db
    .selectFrom("instruction_revisions")
    .select(["number", "content_hash", "reverted_to", "created_at", "user_id", "credential_kind", "credential_id"])
    .select(({ fn }) => fn<number>("octet_length", ["content"]).as("size_bytes"))
    .where("agent_id", "=", agentId);
}

function toRevisionView(row: Omit<RevisionView, "created_at"> & { created_at: unknown }): RevisionView {
  return {
    number: row.number,
    content_hash: row.content_hash,
    size_bytes: row.size_bytes,
    reverted_to: row.reverted_to,
    created_at: toIsoTimestamp(row.created_at),
    user_id: row.user_id,
    credential_kind: row.credential_kind,
    credential_id: row.credential_id,
  };
}

export function revisionNotFound(): ServiceError {
  return new ServiceError(
    "not_found",
    "Revision not found. GET /v1/agents/{id}/instructions/revisions lists the revisions that are kept.",
  );
}
