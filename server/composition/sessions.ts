import path from "node:path";
import type { HostAccess } from "../../domain/agents/host-access.ts";
import { ImportSlots } from "../../domain/sessions/import/import-slots.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { FilesystemSpool } from "../drivers/spool/filesystem.ts";
import { PostgresTranscriptSearch } from "../drivers/transcript-search/postgres-transcript-search.ts";
import type { Foundation } from "./foundation.ts";

export function createSessions({ config, database }: Foundation, hostAccess: HostAccess): Capabilities["sessions"] {
  const spool = new FilesystemSpool(path.join(config.dataDirectory, "imports"));
  const transcriptSearch = new PostgresTranscriptSearch(database.em);
  return { ...hostAccess, em: database.em, spool, imports: new ImportSlots(), transcriptSearch };
}
