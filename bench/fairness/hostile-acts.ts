import type { HostileAct } from "./hostile-act.ts";
import { hostileDocuments } from "./hostile-documents.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { hostileTranscripts } from "./hostile-transcripts.ts";
import { hostileWrites } from "./hostile-writes.ts";

/** Everything that one organization does to the service, in the benchmark and in the tests. */
export const hostileActs: readonly HostileAct[] = [
  ...hostileWrites,
  ...hostileDocuments,
  ...hostileTranscripts,
  ...hostileTexts,
];
