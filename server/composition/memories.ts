import type { Capabilities } from "../../routers/core/context.ts";
import type { EmbeddingServices } from "./embeddings.ts";
import type { Foundation } from "./foundation.ts";

export function createMemories(
  { database }: Foundation,
  { queryEmbedder }: EmbeddingServices,
): Capabilities["memories"] {
  return { em: database.em, db: database.db, queryEmbedder };
}
