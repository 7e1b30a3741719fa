import type { OpenHostDeps } from "../agents/open-host.ts";
import type { HostedEntry } from "../ports/agent-host.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget, truncateForJson } from "../shared/response-budget.ts";
import { readFromHost, type ReadTranscript, toPage, type TranscriptPage } from "./read-transcript.ts";
import type { EntryRole, EntryTool } from "./transcript-entry.ts";

/** An entry as an agent reads it. */
export interface TranscriptExcerpt {
  seq: number;
  role: EntryRole;
  content: string;
  /** Says how to read more of a content that is cut, or what is left out. */
  note?: string;
  tool?: EntryTool;
  /** `null` when a gateway does not know it. */
  created_at: string | null;
}

/** What remains for the entries. */
const PAGE_CHARACTERS = RESPONSE_CHARACTERS - 200;
/** What an entry has besides its content. */
const ENTRY_CHARACTERS = 1000;
/** How much of each content is shown at least, however many entries are requested. */
const MIN_CONTENT_CHARACTERS = 2000;

/**
 * Returns the end of a session's transcript, or the entries before a seq, within the size limit of a response: long contents
 * are cut, and the page has fewer entries than `limit` if they do not fit.
 *
 * @throws {ServiceError} `not_found` when the organization, or the server, has no such session; `unavailable` or `conflict`
 *   when the host of the server does not return it
 */
export async function browseTranscript(
  access: OpenHostDeps,
  caller: Caller,
  request: ReadTranscript,
): Promise<TranscriptPage<TranscriptExcerpt>> {
  const { limit } = request;
  const maxLength = Math.max(MIN_CONTENT_CHARACTERS, Math.floor(PAGE_CHARACTERS / limit) - ENTRY_CHARACTERS);
  // One more character tells whether the content is cut.
  const { entries, hasMore } = await readFromHost(access, caller, request, maxLength + 1);
  const shown = takeWholeMessages(entries.map((entry) => toExcerpt(entry, maxLength, limit)));
  return toPage(shown, hasMore || shown.at(-1)?.seq !== entries.at(-1)?.seq);
}

function toExcerpt(entry: HostedEntry, maxLength: number, limit: number): TranscriptExcerpt {
  const { seq, role, tool, createdAt } = entry;
  const content = truncateForJson(entry.content, maxLength);
  return {
    seq,
    role,
    content,
    ...(content !== entry.content && { note: describeCut(entry, limit) }),
    ...(tool !== null && { tool }),
    created_at: createdAt === null ? null : toIsoTimestamp(createdAt),
  };
}

function describeCut({ seq, bytes }: HostedEntry, limit: number): string {
  const size = `The content is cut.${bytes === null ? "" : ` It has ${bytes} bytes.`}`;
  if (limit > 1) return `${size} To read more of it, pass before: ${seq + 1} and limit: 1.`;
  const whole = bytes === null ? "The gateway has" : "GET /v1/sessions/{id}/transcript returns";
  return `${size} ${whole} all of it.`;
}

/** Takes the newest messages that fit, each with its tool calls: the next page begins before a seq. */
function takeWholeMessages(newestFirst: readonly TranscriptExcerpt[]): TranscriptExcerpt[] {
  const messages = [...Map.groupBy(newestFirst, ({ seq }) => seq).values()];
  const [newest = [], ...more] = takeWithinBudget(messages, PAGE_CHARACTERS);
  return more.length > 0 ? [newest, ...more].flat() : takeBeginning(newest);
}

/** The calls of one message can be too many for a response. */
function takeBeginning(newestFirst: readonly TranscriptExcerpt[]): TranscriptExcerpt[] {
  const shown = takeWithinBudget(newestFirst.toReversed(), PAGE_CHARACTERS - ENTRY_CHARACTERS);
  const [last] = shown.splice(-1);
  if (last === undefined) return [];
  const omitted = newestFirst.length - shown.length - 1;
  const note = omitted === 0 ? {} : { note: `${omitted} more tool calls of this message are left out.` };
  return [...shown, { ...last, ...note }].toReversed();
}
