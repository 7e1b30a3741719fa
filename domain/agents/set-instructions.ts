import type { EntityManager } from "@mikro-orm/core";
import type { Db } from "../database-types.ts";
import { AgentHostError, type HostedInstructions, InstructionsConflict } from "../ports/agent-host.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { KeyedLock } from "../shared/keyed-lock.ts";
import { truncateText } from "../shared/response-budget.ts";
import { sha256Hex } from "../shared/sha256.ts";
import { callHost } from "./call-host.ts";
import { checkMayChange } from "./find-agent.ts";
import { checkContent } from "./instruction-rules.ts";
import { type OpenHostDeps, openAgent, type OpenedAgent } from "./open-host.ts";
import { revisionNotFound } from "./read-instructions.ts";
import { storeRevision } from "./store-revision.ts";

export interface SetInstructionsDeps extends OpenHostDeps {
  em: EntityManager;
  /** By agent. */
  instructionLock: KeyedLock;
}

/** Exactly one of `content` and `revert_to` is given. */
export interface SetInstructions {
  agent_id?: string | undefined;
  content?: string | undefined;
  /** The number of a kept revision, whose content becomes current again. 0: no instructions, as before the first revision. */
  revert_to?: number | undefined;
  /** The `content_hash` that the caller has read. If it is not the current one, nothing changes. */
  expected_hash?: string | undefined;
}

export interface ChangedInstructions {
  agent_id: string;
  before: InstructionVersion;
  after: InstructionVersion;
  /** The number of the current revision. */
  revision: number;
  /** The number of the revision before, for `revert_to`; 0 when there was none, and the instructions were empty. */
  previous_revision: number;
  /** Whether `content` is cut in `before` or `after`. */
  truncated: boolean;
  /** The changed lines as a unified diff, cut if it is long; `null` when nothing or almost everything has changed. */
  diff: string | null;
}

/** How often a change is tried when other processes or users of the gateway change the same instructions. */
const MAX_ATTEMPTS = 5;

/**
 * Replaces the AGENTS.md of an agent, where it is. The version before is kept as a revision, before it is replaced. The
 * current content again changes nothing.
 *
 * @throws {ServiceError} `invalid` for a content that is not allowed; `not_found` when the organization has no such agent, or
 *   the agent no such revision; `forbidden` for a gateway token of another agent; `conflict` when `expected_hash` is not
 *   the current hash; `unavailable` or `conflict` when the host of the agent does not do it
 */
export async function setInstructions(
  deps: SetInstructionsDeps,
  caller: Caller,
  request: SetInstructions,
): Promise<ChangedInstructions> {
  const { content, revert_to: revertTo } = request;
  if ((content === undefined) === (revertTo === undefined))
    throw new ServiceError("invalid", "Send either content or revert_to, and not both.");
  if (content !== undefined) checkContent(content);
  const opened = await openAgent(deps, caller, request.agent_id);
  checkMayChange(caller, opened.agent);
  const change = { deps, caller, request, opened };
  return callHost((signal) => deps.instructionLock.run([opened.agent.id], () => replace(change, signal)));
}

interface Change {
  deps: SetInstructionsDeps;
  caller: Caller;
  request: SetInstructions;
  opened: OpenedAgent;
}

/** Without an expected hash the last call wins, so it is repeated when the instructions change at the same time. */
async function replace(change: Change, signal: AbortSignal): Promise<ChangedInstructions> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await replaceOnce(change, signal);
    } catch (error) {
      const isRepeatable = error instanceof InstructionsConflict && change.request.expected_hash === undefined;
      if (!isRepeatable || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function replaceOnce(change: Change, signal: AbortSignal): Promise<ChangedInstructions> {
  const { deps, request, opened } = change;
  const { agent, host, hostedId } = opened;
  const before = await host.readInstructions(hostedId, signal);
  const expected = request.expected_hash?.toLowerCase() ?? before.hash;
  if (expected !== before.hash) throw new InstructionsConflict(before.hash);
  const content = request.content ?? (await readContent(deps.db, agent.id, request.revert_to ?? 0));
  const after = { content, hash: sha256Hex(content) };
  // If the service ends after this, the replaced version is kept, and at worst is the current one too.
  const previous = before.revision ?? (await keepReplaced(change, before));
  const isChanged = after.hash !== before.hash;
  const revision = isChanged ? await write(change, { content, expectedHash: before.hash }, signal) : previous;
  const described = await describeInstructionChange(before, after);
  return { agent_id: agent.id, ...described, revision, previous_revision: previous };
}

/** @returns the number of the new revision */
async function write(
  { deps, caller, request, opened }: Change,
  { content, expectedHash }: { content: string; expectedHash: string },
  signal: AbortSignal,
): Promise<number> {
  const { agent, host, hostedId } = opened;
  const revertedTo = request.revert_to ?? null;
  const { userId, credential } = caller;
  const author = { userId, credential };
  let written: HostedInstructions;
  try {
    written = await host.writeInstructions({ agentId: hostedId, content, expectedHash, author, revertedTo }, signal);
  } catch (error) {
    throw explainFailedWrite(error, signal);
  }
  if (written.revision !== null) return written.revision;
  const by = { userId, credentialKind: credential.kind, credentialId: credential.id };
  return storeRevision(deps.em, { agentId: agent.id, content, revertedTo, author: by });
}

/** Keeps the current version of a host that does not do it itself. It is new here if somebody has edited it there. */
function keepReplaced({ deps, opened: { agent } }: Change, before: HostedInstructions): Promise<number> {
  const author = { userId: null, credentialKind: "openclaw", credentialId: agent.serverId } as const;
  const { content, updatedAt: createdAt } = before;
  return storeRevision(deps.em, { agentId: agent.id, content, revertedTo: null, author, createdAt });
}

const UNKNOWN_RESULT: ReadonlySet<string> = new Set(["unreachable", "timed_out", "invalid_response"]);

function explainFailedWrite(error: unknown, signal: AbortSignal): unknown {
  const advice = "It is not known whether the instructions were replaced: read them before you try again.";
  if (error instanceof AgentHostError && UNKNOWN_RESULT.has(error.code))
    return new AgentHostError(error.code, `${error.message} ${advice}`, { cause: error });
  if (error !== signal.reason) return error;
  return new AgentHostError("timed_out", `The gateway does not respond in time. ${advice}`, { cause: error });
}

/** @param number - 0 for the state before the first revision, which is empty */
async function readContent(db: Db, agentId: string, number: number): Promise<string> {
  if (number === 0) return "";
  const row = await db
    .selectFrom("instruction_revisions")
    .select("content")
    .where("agent_id", "=", agentId)
    .where("number", "=", number)
    .executeTakeFirst();
  if (row === undefined) throw revisionNotFound();
  return row.content;
}

interface InstructionVersion {
  /** Cut after {@link SHOWN_CHARACTERS}. */
  content: string;
  content_hash: string;
}

interface Version {
  content: string;
  hash: string;
}

const SHOWN_CHARACTERS = 8000;
const DIFF_CHARACTERS = 4000;
/** Bounds the time of a comparison, which grows with the number of differences. */
const MAX_CHANGED_LINES = 500;

/** Describes a change of instructions within the size of a response. */
export async function describeInstructionChange(before: Version, after: Version) {
  return {
    before: toVersion(before),
    after: toVersion(after),
    truncated: Math.max(before.content.length, after.content.length) > SHOWN_CHARACTERS,
    diff: before.content === after.content ? null : await diffLines(before.content, after.content),
  };
}

function toVersion({ content, hash }: Version): InstructionVersion {
  return { content: truncateText(content, SHOWN_CHARACTERS), content_hash: hash };
}

async function diffLines(before: string, after: string): Promise<string | null> {
  const { createTwoFilesPatch } = await import("diff");
  const options = { context: 2, maxEditLength: MAX_CHANGED_LINES };
  const patch = createTwoFilesPatch("AGENTS.md", "AGENTS.md", before, after, "", "", options);
  return patch === undefined ? null : truncateText(patch, DIFF_CHARACTERS);
}
