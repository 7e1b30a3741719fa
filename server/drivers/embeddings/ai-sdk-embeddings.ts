import type { EmbedOptions, Embeddings } from "../../../domain/ports/embeddings.ts";
import { createBoundedFetch } from "../../http/bounded-fetch.ts";
import { TextsRejected } from "../../../domain/ports/embeddings.ts";

export interface EmbeddingsSettings {
  model: string;
  baseUrl: string;
  /** `null` for an endpoint without authentication. */
  apiKey: string | null;
  /** The dimensions that the endpoint should return; `null` for those of the model. */
  dimensions: number | null;
  minSimilarity: number;
}

const ENDPOINT = "the embeddings endpoint";
/** As many as common endpoints accept. */
const BATCH_SIZE = 32;
const MAX_CHARACTERS = 4000;
const MAX_DIMENSIONS = 4096;
/** A number has at most 25 characters. */
const MAX_BYTES = BATCH_SIZE * MAX_DIMENSIONS * 25 + 1024 * 1024;
/** 408, 425 and 429 are temporary, and 401, 403 and 404 are not about the texts. */
const REJECTIONS = new Set([400, 413, 422]);

/** Calls an endpoint with the embeddings API of OpenAI through the Vercel AI SDK, which is loaded on first use. */
export class AiSdkEmbeddings implements Embeddings {
  readonly model: string;
  readonly minSimilarity: number;
  readonly #settings: EmbeddingsSettings;

  constructor(settings: EmbeddingsSettings) {
    this.#settings = settings;
    this.model = settings.dimensions === null ? settings.model : `${settings.model} ${settings.dimensions}`;
    this.minSimilarity = settings.minSimilarity;
  }

  async embed(texts: readonly string[], { timeLimitMs, signal }: EmbedOptions): Promise<Float32Array[]> {
    const timeout = AbortSignal.timeout(timeLimitMs);
    const abortSignal = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    const vectors: Float32Array[] = [];
    for (let start = 0; start < texts.length; start += BATCH_SIZE) {
      const values = texts.slice(start, start + BATCH_SIZE).map((text) => text.slice(0, MAX_CHARACTERS).toWellFormed());
      const embeddings = await this.#request(values, abortSignal).catch(async (error: unknown) => {
        signal?.throwIfAborted();
        throw timeout.aborted
          ? new Error(`${ENDPOINT} did not respond in ${timeLimitMs} ms`)
          : await toSafeError(error);
      });
      vectors.push(...toUnitVectors(embeddings));
    }
    const dimensions = this.#settings.dimensions ?? vectors[0]?.length;
    if (vectors.some(({ length }) => length !== dimensions))
      throw new Error(`${ENDPOINT} returned vectors with other dimensions than ${dimensions}`);
    return vectors;
  }

  async #request(values: string[], abortSignal: AbortSignal): Promise<number[][]> {
    const { dimensions } = this.#settings;
    const { embedMany } = await import("ai");
    const { embeddings } = await embedMany({
      model: await openModel(this.#settings),
      values,
      maxRetries: 0,
      abortSignal,
      ...(dimensions !== null && { dimensions }),
    });
    return embeddings;
  }
}

/** Without the response and the request, because they can contain texts and the key. */
async function toSafeError(error: unknown): Promise<Error> {
  const { AISDKError, APICallError } = await import("ai");
  // The other errors of the SDK are about the contents of a response, such as the number of vectors.
  const contentStatus = AISDKError.isInstance(error) ? 200 : undefined;
  const statusCode = APICallError.isInstance(error) ? error.statusCode : contentStatus;
  if (statusCode === undefined) return new Error(`${ENDPOINT} cannot be reached`);
  if (statusCode < 400) return new Error(`${ENDPOINT} returned an invalid response`);
  const message = `${ENDPOINT} returned status ${statusCode}`;
  return REJECTIONS.has(statusCode) ? new TextsRejected(message) : new Error(message);
}

function toUnitVectors(embeddings: readonly number[][]): Float32Array[] {
  return embeddings.map((embedding) => {
    const norm = Math.hypot(...embedding);
    if (embedding.length > MAX_DIMENSIONS || !Number.isFinite(norm) || norm === 0)
      throw new Error(`${ENDPOINT} returned an invalid vector`);
    return Float32Array.from(embedding, (value) => value / norm);
  });
}

async function openModel({ model, baseUrl, apiKey }: EmbeddingsSettings) {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const key = { fetch: createBoundedFetch(MAX_BYTES), ...(apiKey !== null && { apiKey }) };
  return createOpenAICompatible({ name: "openaiCompatible", baseURL: baseUrl, ...key }).embeddingModel(model);
}
