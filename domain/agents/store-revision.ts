import type { EntityManager } from "@mikro-orm/core";
import type { Selectable } from "kysely";
import { type DatabaseTables, type Db, queryBuilderOf } from "../database-types.ts";
import { AgentHostError } from "../ports/agent-host.ts";
import { sha256Hex } from "../shared/sha256.ts";
import { inTransaction } from "../shared/transaction.ts";
import { InstructionRevision } from "./instruction-revision.entity.ts";
import { INSTRUCTION_LIMITS } from "./instruction-rules.ts";

export type RevisionRow = Selectable<DatabaseTables["instruction_revisions"]>;

/** Returns `undefined` for an agent of which no instructions are stored. */
export function selectNewestRevision(db: Db, agentId: string): Promise<RevisionRow | undefined> {
  return db
    .selectFrom("instruction_revisions")
    .selectAll()
    .where("agent_id", "=", agentId)
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** The content of a revision, which is empty without one, and its hash. */
export function versionOf(revision: RevisionRow | undefined): { content: string; hash: string } {
  return { content: revision?.content ?? "", hash: revision?.content_hash ?? sha256Hex("") };
}

export interface NewRevision {
  agentId: string;
  content: string;
  revertedTo: number | null;
  author: RevisionAuthor;
  /** By default now. */
  createdAt?: Date | null;
}

export type RevisionAuthor = Pick<InstructionRevision, "userId" | "credentialKind" | "credentialId">;

/**
 * Stores a version of an agent's instructions as the newest revision, unless the newest one has the same content.
 *
 * @param check - throws when the newest revision is not the one that may be replaced
 * @returns the number of the newest revision; 0 for empty instructions of an agent that never had others
 * @throws {AgentHostError} `not_found` for an agent that has been deleted
 */
export async function storeRevision(
  root: EntityManager,
  { agentId, content, revertedTo, author, createdAt = null }: NewRevision,
  check: (currentHash: string) => void = () => undefined,
): Promise<number> {
  const contentHash = sha256Hex(content);
  return inTransaction(root, async (em) => {
    const tx = queryBuilderOf(em);
    await lockAgent(tx, agentId);
    const newest = await selectNewestRevision(tx, agentId);
    const { hash } = versionOf(newest);
    check(hash);
    if (hash === contentHash) return newest?.number ?? 0;
    const number = (newest?.number ?? 0) + 1;
    const time = createdAt === null ? {} : { createdAt };
    em.create(InstructionRevision, { agentId, number, content, contentHash, revertedTo, ...author, ...time });
    await em.flush();
    await removeOldRevisions(tx, agentId, number);
    return number;
  });
}

/** Makes simultaneous changes of the same instructions wait for each other. */
async function lockAgent(tx: Db, id: string): Promise<void> {
  const row = await tx.selectFrom("agents").select("id").where("id", "=", id).forUpdate().executeTakeFirst();
  if (row === undefined) throw new AgentHostError("not_found", "The agent has been deleted.");
}

async function removeOldRevisions(tx: Db, agentId: string, newest: number): Promise<void> {
  await tx
    .deleteFrom("instruction_revisions")
    .where("agent_id", "=", agentId)
    .where("number", "<=", newest - INSTRUCTION_LIMITS.revisions)
    .execute();
}
