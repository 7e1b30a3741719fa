import path from "node:path";
import { ImportSlots } from "../../domain/sessions/import/import-slots.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { FilesystemSpool } from "../drivers/spool/filesystem.ts";
import { PostgresTranscriptSearch } from "../drivers/transcript-search/postgres-transcript-search.ts";
import type { Foundation } from "./foundation.ts";

export function createSessions({ config, database: { em, db } }: Foundation): Capabilities["sessions"] {
  const spool = new FilesystemSpool(path.join(config.dataDirectory, "imports"));
  return { em, db, spool, imports: new ImportSlots(), transcriptSearch: new PostgresTranscriptSearch(em) };
}
