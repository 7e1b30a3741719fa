import { QueryEmbedder } from "../../domain/search/query-embedder.ts";
import type { Embeddings } from "../../domain/ports/embeddings.ts";
import { AiSdkEmbeddings } from "../drivers/embeddings/ai-sdk-embeddings.ts";
import type { Foundation } from "./foundation.ts";

export interface EmbeddingServices {
  /** For the worker, which embeds texts. `null` when no endpoint is configured. */
  embeddings: Embeddings | null;
  /** For searches. `null` when no endpoint is configured. */
  queryEmbedder: QueryEmbedder | null;
}

export function createEmbeddings({ config, log }: Foundation): EmbeddingServices {
  if (config.embeddings === null) return { embeddings: null, queryEmbedder: null };
  const embeddings = new AiSdkEmbeddings(config.embeddings);
  const report = (error: unknown): void =>
    log.warn({ problem: messageOf(error) }, "a query could not be embedded; the search used its words only");
  return { embeddings, queryEmbedder: new QueryEmbedder({ embeddings, report }) };
}

/** Only the message: other fields of an error could contain texts or the key. */
function messageOf(error: unknown): string | null {
  return error instanceof Error ? error.message : null;
}
