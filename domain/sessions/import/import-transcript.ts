import type { EntityManager } from "@mikro-orm/core";
import { checkIsManaged } from "../../agents/agent-view.ts";
import { checkMayChange, findAgent } from "../../agents/find-agent.ts";
import type { Db } from "../../database-types.ts";
import type { Spool, SpoolFile } from "../../ports/spool.ts";
import type { Caller } from "../../shared/caller.ts";
import type { FairQueue } from "../../shared/fair-queue.ts";
import type { EntryUsage } from "../transcript-entry.ts";
import type { TranscriptFormat } from "./detect-format.ts";
import { spoolTranscript } from "./spool-transcript.ts";
import { storeTranscript } from "./store-transcript.ts";

export interface ImportTranscriptDeps {
  em: EntityManager;
  db: Db;
  spool: Spool;
  /** Limits how many files arrive at the same time. They are on the disk until they are imported. */
  uploads: FairQueue;
  /** Limits how many files are imported at the same time, because each one needs memory for its longest lines. */
  imports: FairQueue;
}

export interface ImportTranscript {
  agent_id: string;
  /** By default, the format that the first records of the file show. */
  format?: TranscriptFormat | undefined;
  /** The bytes of the file. They are read once, as fast as they arrive. */
  file: AsyncIterable<Uint8Array>;
}

export interface ImportedTranscript {
  session_id: string;
  format: TranscriptFormat;
  /** How many entries of the file were new. */
  added: number;
  /** How many entries of the file the session had already. */
  existing: number;
  /** The tokens of all entries of the file. */
  tokens: EntryUsage;
  /** The number of records without an entry, by their kind. */
  skipped: Record<string, number>;
  /** Whether the end of the file was incomplete, and left out. */
  is_cut: boolean;
}

/**
 * Imports a transcript of a coding agent into the session of an agent that has the id of the transcript. It adds only
 * entries that the session does not have, so a call can be repeated, also with a longer version of the file. The whole file
 * is read before anything is stored, and all of its entries are stored in one transaction: a call that fails, and a crash,
 * leave nothing of the file.
 *
 * @throws {ServiceError} `invalid` for a file that is not a transcript, or has a line that is not JSON; `not_found` when the
 *   organization has no such agent; `forbidden` for a gateway token of another agent; `conflict` when the session is closed,
 *   there would be too many entries or sessions, or the agent is in a gateway; `unavailable` when too many imports wait
 */
export async function importTranscript(
  { em, db, spool, uploads, imports }: ImportTranscriptDeps,
  caller: Caller,
  { agent_id: agentId, format: expected, file }: ImportTranscript,
): Promise<ImportedTranscript> {
  const agent = await findAgent(db, caller, agentId);
  checkMayChange(caller, agent);
  checkIsManaged(agent);
  await using upload = await spool.open();
  // Before its turn, so that a file that arrives slowly delays no other import.
  await uploads.run(caller.orgId, () => receive(file, upload));
  return await imports.run(caller.orgId, async () => {
    await using entries = await spool.open();
    const transcript = await spoolTranscript(upload.read(), expected, entries);
    const { sessionId, added } = await storeTranscript(em, caller, { agentId, transcript, entries });
    const { format, entryCount, tokens, skipped, isCut } = transcript;
    return { session_id: sessionId, format, added, existing: entryCount - added, tokens, skipped, is_cut: isCut };
  });
}

async function receive(file: AsyncIterable<Uint8Array>, upload: SpoolFile): Promise<void> {
  for await (const chunk of file) await upload.append(chunk);
}
