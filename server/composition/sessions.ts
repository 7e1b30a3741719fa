import path from "node:path";
import type { OpenHostDeps } from "../../domain/agents/open-host.ts";
import { FairQueue } from "../../domain/shared/fair-queue.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { FilesystemSpool } from "../drivers/spool/filesystem.ts";
import { PostgresTranscriptSearch } from "../drivers/transcript-search/postgres-transcript-search.ts";
import type { Foundation } from "./foundation.ts";

/** Files that arrive do not wait for each other: those beyond the limits are rejected. */
const UPLOADS = { running: 64, runningPerKey: 16, waiting: 0 };
const IMPORTS = { running: 4, runningPerKey: 2, waiting: 60, waitingPerKey: 14, waitMs: 300_000 };
const BUSY = "The service is importing other transcripts. Try again in a few seconds.";

export function createSessions({ config, database }: Foundation, openHostDeps: OpenHostDeps): Capabilities["sessions"] {
  return {
    ...openHostDeps,
    em: database.em,
    spool: new FilesystemSpool(path.join(config.dataDirectory, "imports")),
    uploads: new FairQueue(UPLOADS, BUSY),
    imports: new FairQueue(IMPORTS, BUSY),
    transcriptSearch: new PostgresTranscriptSearch(database.em),
  };
}
