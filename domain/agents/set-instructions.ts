import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { createTwoFilesPatch } from "diff";
import { agentNotFound } from "./agent-view.ts";
import { checkMayChange, findAgent } from "./find-agent.ts";
import { queryBuilderOf, type Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { truncateText } from "../shared/response-budget.ts";
import { sha256Hex } from "../shared/sha256.ts";
import { InstructionRevision } from "./instruction-revision.entity.ts";
import { checkContent, INSTRUCTION_LIMITS } from "./instruction-rules.ts";
import { revisionNotFound, selectCurrentRevision, versionOf } from "./read-instructions.ts";

export interface SetInstructionsDeps {
  em: EntityManager;
  db: Db;
}

/** Exactly one of `content` and `revert_to` is given. */
export interface SetInstructions {
  agent_id?: string | undefined;
  content?: string | undefined;
  /** The number of a kept revision, whose content becomes current again. */
  revert_to?: number | undefined;
  /** The `content_hash` that the caller has read. If it is not the current one, nothing changes. */
  expected_hash?: string | undefined;
}

export interface InstructionVersion {
  /** Cut after {@link SHOWN_CHARACTERS}. */
  content: string;
  content_hash: string;
}

export interface ChangedInstructions {
  agent_id: string;
  before: InstructionVersion;
  after: InstructionVersion;
  /** The number of the current revision. */
  revision: number;
  /** The number of the revision before, for `revert_to`; 0 when there was none. */
  previous_revision: number;
  /** Whether `content` is cut in `before` or `after`. */
  truncated: boolean;
  /** The changed lines as a unified diff, cut if it is long; `null` when nothing or almost everything has changed. */
  diff: string | null;
}

const SHOWN_CHARACTERS = 8000;
const DIFF_CHARACTERS = 4000;
/** Bounds the time of a comparison, which grows with the number of differences. */
const MAX_CHANGED_LINES = 500;

/**
 * Replaces the AGENTS.md of an agent. The version before is kept as a revision. The current content again changes nothing.
 *
 * @throws {ServiceError} `invalid` for a content that is not allowed; `not_found` when the organization has no such agent, or
 *   the agent no such revision; `forbidden` for a gateway token of another agent; `conflict` when `expected_hash` is not
 *   the current hash
 */
export async function setInstructions(
  { em: root, db }: SetInstructionsDeps,
  caller: Caller,
  request: SetInstructions,
): Promise<ChangedInstructions> {
  const { content: given, revert_to: revertTo } = request;
  if ((given === undefined) === (revertTo === undefined))
    throw new ServiceError("invalid", "Send either content or revert_to, and not both.");
  if (given !== undefined) checkContent(given);
  const agent = await findAgent(db, caller, request.agent_id);
  checkMayChange(caller, agent);
  return (root as SqlEntityManager).fork().transactional(async (em) => {
    const tx = queryBuilderOf(em);
    await lockAgent(tx, agent.id);
    const current = await selectCurrentRevision(tx, agent.id);
    const before = versionOf(current);
    checkExpectedHash(request.expected_hash, before.content_hash);
    const content = given ?? (await readContent(tx, agent.id, revertTo ?? 0));
    const after = { content, content_hash: sha256Hex(content) };
    const previous = current?.number ?? 0;
    const isChanged = after.content_hash !== before.content_hash;
    if (isChanged) {
      em.create(InstructionRevision, {
        agentId: agent.id,
        number: previous + 1,
        content,
        contentHash: after.content_hash,
        revertedTo: revertTo ?? null,
        userId: caller.userId,
        credentialKind: caller.credential.kind,
        credentialId: caller.credential.id,
      });
      await em.flush();
      await removeOldRevisions(tx, agent.id, previous + 1);
    }
    return describeChange(agent.id, before, after, { previous, current: isChanged ? previous + 1 : previous });
  });
}

/** Makes simultaneous changes of the same instructions wait for each other. */
async function lockAgent(tx: Db, id: string): Promise<void> {
  const row = await tx.selectFrom("agents").select("id").where("id", "=", id).forUpdate().executeTakeFirst();
  if (row === undefined) throw agentNotFound();
}

function checkExpectedHash(expected: string | undefined, current: string): void {
  if (expected === undefined || expected.toLowerCase() === current) return;
  throw new ServiceError(
    "conflict",
    `expected_hash: the instructions have changed since. Their content_hash is ${current}. Read them, apply the change to them, then try again.`,
  );
}

async function readContent(tx: Db, agentId: string, number: number): Promise<string> {
  const row = await tx
    .selectFrom("instruction_revisions")
    .select("content")
    .where("agent_id", "=", agentId)
    .where("number", "=", number)
    .executeTakeFirst();
  if (row === undefined) throw revisionNotFound();
  return row.content;
}

async function removeOldRevisions(tx: Db, agentId: string, newest: number): Promise<void> {
  await tx
    .deleteFrom("instruction_revisions")
    .where("agent_id", "=", agentId)
    .where("number", "<=", newest - INSTRUCTION_LIMITS.revisions)
    .execute();
}

function describeChange(
  agentId: string,
  before: InstructionVersion,
  after: InstructionVersion,
  revisions: { previous: number; current: number },
): ChangedInstructions {
  const shorten = ({ content, content_hash }: InstructionVersion) => ({
    content: truncateText(content, SHOWN_CHARACTERS),
    content_hash,
  });
  return {
    agent_id: agentId,
    before: shorten(before),
    after: shorten(after),
    revision: revisions.current,
    previous_revision: revisions.previous,
    truncated: Math.max(before.content.length, after.content.length) > SHOWN_CHARACTERS,
    diff: before.content === after.content ? null : diffLines(before.content, after.content),
  };
}

function diffLines(before: string, after: string): string | null {
  const options = { context: 2, maxEditLength: MAX_CHANGED_LINES };
  const patch = createTwoFilesPatch("AGENTS.md", "AGENTS.md", before, after, "", "", options);
  return patch === undefined ? null : truncateText(patch, DIFF_CHARACTERS);
}
