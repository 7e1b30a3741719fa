import { type Db, queryBuilderOf } from "../database-types.ts";
import type { ScopeKey } from "../search/search-scope.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { hashText } from "./compare-text.ts";
import { checkMemoryContent, MEMORY_LIMITS, type MemoryKind } from "./memory-rules.ts";
import { type ChangeMemoriesDeps, findMemoryScope, lockMemoryAgent, lockOfMemories } from "./memory-scope.ts";
import type { MemoryRow } from "./memory-view.ts";
import {
  addMemory,
  changeMemory,
  getMemoryRow,
  type MemoryText,
  removeMemory,
  selectMemories,
} from "./stored-memories.ts";

export interface WriteMemory {
  agent_id?: string | undefined;
  content: string;
  kind: MemoryKind;
  /** The memory whose content is no longer correct. It gets the new content. */
  replaces?: string | undefined;
}

export const WRITE_STATUSES = ["created", "updated", "duplicate"] as const;

export interface WrittenMemory {
  /** The memory that has the content. */
  memory_id: string;
  /** `duplicate`: the agent had this content already, so nothing was stored. */
  status: (typeof WRITE_STATUSES)[number];
}

/**
 * Stores a memory of an agent. A content that the agent has already, in the same or in slightly other words, is not stored
 * twice (docs/memory.md, Duplicates). Simultaneous calls wait for each other.
 *
 * @throws {ServiceError} `invalid` for a content that is not allowed; `not_found` when the organization has no such agent, or
 *   the agent no memory `replaces`; `forbidden` for a gateway token of another agent; `conflict` when the agent has too many
 *   memories
 */
export async function writeMemory(
  { em: root, db }: ChangeMemoriesDeps,
  caller: Caller,
  { agent_id: agentId, content, kind, replaces }: WriteMemory,
): Promise<WrittenMemory> {
  const text = toMemoryText(content, kind);
  const scope = await findMemoryScope(db, caller, agentId);
  return inLockedTransaction(root, [lockOfMemories(scope)], async (em) => {
    const tx = queryBuilderOf(em);
    await lockMemoryAgent(tx, scope);
    const replaced = replaces === undefined ? undefined : await getMemoryRow(tx, scope, replaces);
    const same = await findSameText(tx, scope, text);
    if (same !== undefined) {
      if (replaced !== undefined && replaced.id !== same.id) await removeMemory(tx, scope, replaced);
      if (same.kind === kind) return { memory_id: same.id, status: "duplicate" };
    }
    const row = same ?? replaced ?? (await findSameMeaning(tx, scope, text));
    if (row === undefined) return { memory_id: await addChecked(tx, scope, caller, text), status: "created" };
    await changeMemory(tx, scope, caller, { row, text });
    return { memory_id: row.id, status: "updated" };
  });
}

/** @throws {ServiceError} `invalid` for a content that is not allowed */
export function toMemoryText(content: string, kind: MemoryKind): MemoryText {
  const stored = checkMemoryContent(content);
  return { kind, content: stored, instructionLike: isInstructionLike(stored), ...hashText(stored) };
}

export function findSameText(tx: Db, scope: ScopeKey, { contentHash }: MemoryText): Promise<MemoryRow | undefined> {
  return selectMemories(tx, scope).where("content_hash", "=", contentHash).executeTakeFirst();
}

function findSameMeaning(tx: Db, scope: ScopeKey, { kind, meaningHash }: MemoryText): Promise<MemoryRow | undefined> {
  return selectMemories(tx, scope)
    .where("kind", "=", kind)
    .where("meaning_hash", "=", meaningHash)
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
}

async function addChecked(tx: Db, scope: ScopeKey, caller: Caller, text: MemoryText): Promise<string> {
  const { memoriesPerAgent } = MEMORY_LIMITS;
  const { count } = await tx
    .selectFrom("memories")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("agent_id", "=", scope.ownerId)
    .executeTakeFirstOrThrow();
  if (Number(count) < memoriesPerAgent) return addMemory(tx, scope, caller, text);
  throw new ServiceError(
    "conflict",
    `An agent can have at most ${memoriesPerAgent} memories. Pass replaces to change one, or ask a user to delete memories.`,
  );
}

const OBJECTS = String.raw`(?:instruction|rule|prompt|guideline|direction|command|context|message|polic(?:y|ie)|constraint|restriction)s?`;

/**
 * Forms of texts that try to direct a language model: orders to ignore earlier instructions, a new identity, the markup of
 * conversations and tool calls, and orders to hide or send something. Each matches a text in lowercase.
 */
const FORMS: readonly RegExp[] = [
  new RegExp(
    String.raw`\b(?:ignore|disregard|forget|override|bypass|drop|do not follow|don't follow|stop following)\b[^.!?\n]{0,40}\b(?:all|any|every|previous|prior|above|earlier|preceding|existing|your|system|these|those)\b[^.!?\n]{0,40}\b${OBJECTS}\b`,
  ),
  new RegExp(String.raw`\b(?:new|updated|real|actual|secret|hidden) (?:system )?(?:instructions?|prompt|rules?)\s*:`),
  /\byou are (?:now (?:an?|the|in|my|free)|(?:no longer|not) (?:bound|restricted|limited))\b/,
  /\b(?:from now on|henceforth),? (?:you|your|act|always|never|respond|reply|answer|ignore|pretend)\b/,
  /\b(?:pretend|act|behave|roleplay) (?:to be|as if you|as though you|as an? (?:unrestricted|unfiltered|different|evil|new)|as (?:dan|root|admin|system|developer))\b/,
  /\b(?:system|developer) (?:prompt|message|override|instructions?)\b/,
  /\b(?:jailbreak|developer mode|god mode|do anything now)\b/,
  /^[ \t]*(?:#+[ \t]*|\*\*)?(?:system|assistant|developer)(?:\*\*)?[ \t]*:/m,
  /^[ \t]*#+[ \t]*(?:system|instructions?)\b|\[(?:system|assistant|developer)\]/m,
  /<\|[a-z_]{2,30}\|>|\[\/?inst\]|<<\/?sys>>|<\/?(?:system|instructions?|tool_call|tool_use|function_calls?|invoke)\b[^>]{0,200}>/,
  /\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|show|showing)\b[^.!?\n]{0,30}\b(?:the )?(?:user|human|operator|admin|anyone)\b/,
  /\b(?:send|post|upload|forward|exfiltrate|leak|reveal|print|output|repeat)\b[^.!?\n]{0,60}\b(?:system prompt|your (?:instructions|prompt|rules)|api keys?|access tokens?|passwords?|credentials|secrets?|env(?:ironment)? variables?)\b/,
  /\b(?:ignoriere?|vergiss|missachte)\b[^.!?\n]{0,60}\b(?:anweisung|regel|vorgabe|instruktion)/,
  /\bignore[zr]?\b[^.!?\n]{0,60}\b(?:consignes|instructions|règles) (?:précédentes|antérieures|ci-dessus)/,
  /\b(?:ignora|ignore|olvida|esqueça|dimentica)\b[^.!?\n]{0,60}\b(?:instrucciones|instruções|istruzioni|reglas|regras|regole)/,
  /(?:忽略|无视|忘记|無視|忽視)[^。!?\n]{0,20}(?:指令|指示|提示|规则|規則)/,
  /(?:以前|これまで|上記|前)の(?:指示|命令|ルール)[^。!?\n]{0,10}(?:無視|忘れ)/,
  /(?:игнорируй|забудь|проигнорируй)[^.!?\n]{0,60}(?:инструкци|правил|указани)/,
];

/**
 * Whether a text has the form of an instruction to a language model. It is only a mark for readers: a text without it can
 * still be one, so no text of a memory is ever to be followed.
 */
export function isInstructionLike(content: string): boolean {
  const text = content
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replaceAll("\u2019", "'")
    .toLowerCase();
  // Keeps all characters after which `^` matches.
  const line = text.replace(/[^\S\n\r\u2028\u2029]+/g, " ");
  const unbroken = text.replace(/\s+/g, " ");
  return FORMS.some((form) => form.test(line) || form.test(unbroken));
}
