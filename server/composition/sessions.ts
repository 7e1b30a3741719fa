import type { Capabilities } from "../../routers/core/context.ts";
import { PostgresTranscriptSearch } from "../drivers/transcript-search/postgres-transcript-search.ts";
import type { Foundation } from "./foundation.ts";

export function createSessions({ database: { em, db } }: Foundation): Capabilities["sessions"] {
  return { em, db, transcriptSearch: new PostgresTranscriptSearch(em) };
}
