import path from "node:path";
import type { OpenHostDeps } from "../../domain/agents/open-host.ts";
import { ImportLimiter } from "../../domain/sessions/import/import-limiter.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { FilesystemSpool } from "../drivers/spool/filesystem.ts";
import { PostgresTranscriptSearch } from "../drivers/transcript-search/postgres-transcript-search.ts";
import type { Foundation } from "./foundation.ts";

export function createSessions({ config, database }: Foundation, openHostDeps: OpenHostDeps): Capabilities["sessions"] {
  const spool = new FilesystemSpool(path.join(config.dataDirectory, "imports"));
  const transcriptSearch = new PostgresTranscriptSearch(database.em);
  return { ...openHostDeps, em: database.em, spool, imports: new ImportLimiter(), transcriptSearch };
}
