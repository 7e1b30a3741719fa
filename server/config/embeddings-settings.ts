import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import type { EmbeddingsSettings } from "../drivers/embeddings/ai-sdk-embeddings.ts";
import { url } from "./url-setting.ts";

const DEFAULT_MIN_SIMILARITY = 0.3;

/** The variables of the embeddings endpoint. */
export const embeddingsVariables = {
  EMBEDDINGS_MODEL: z.string().optional(),
  EMBEDDINGS_BASE_URL: url(["https:", "http:"], "https://models.example.com/v1").optional(),
  EMBEDDINGS_API_KEY: z.string().optional(),
  EMBEDDINGS_DIMENSIONS: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, "must be a whole number from 1 to 4096, such as 512")
    .transform(Number)
    .refine((value) => value <= 4096, "must be a whole number from 1 to 4096, such as 512")
    .optional(),
  EMBEDDINGS_MIN_SIMILARITY: z
    .string()
    .regex(/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/, "must be a number from 0 to 1, such as 0.3")
    .transform(Number)
    .optional(),
};

type EmbeddingsValues = { [K in keyof typeof embeddingsVariables]?: z.output<(typeof embeddingsVariables)[K]> };

/**
 * Combines the settings of the embeddings endpoint; `null` when none is configured.
 *
 * @throws {ConfigError} that names what is missing
 */
export function readEmbeddingsSettings(values: EmbeddingsValues): EmbeddingsSettings | null {
  const { EMBEDDINGS_MODEL: model, EMBEDDINGS_BASE_URL: baseUrl } = values;
  const present = Object.keys(embeddingsVariables).find((name) => values[name as keyof EmbeddingsValues] !== undefined);
  if (present === undefined) return null;
  if (model === undefined) throw new ConfigError(`EMBEDDINGS_MODEL must be set too, because ${present} is`);
  if (baseUrl === undefined) throw new ConfigError("EMBEDDINGS_BASE_URL must be set too, because EMBEDDINGS_MODEL is");
  return {
    model,
    baseUrl: baseUrl.replace(/(?<!\/)\/+$/, ""),
    apiKey: values.EMBEDDINGS_API_KEY ?? null,
    dimensions: values.EMBEDDINGS_DIMENSIONS ?? null,
    minSimilarity: values.EMBEDDINGS_MIN_SIMILARITY ?? DEFAULT_MIN_SIMILARITY,
  };
}
