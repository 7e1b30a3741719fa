export interface EmbedOptions {
  timeLimitMs: number;
  signal?: AbortSignal | undefined;
}

/** Computes embeddings: vectors whose directions are similar for texts with a similar meaning. It may be called again after any failure. */
export interface Embeddings {
  /** Vectors of different models cannot be compared. */
  readonly model: string;
  /** The lowest cosine at which two texts count as similar, from -1 to 1. It depends on the model. */
  readonly minSimilarity: number;
  /**
   * Returns a vector for each text, in their order. All have the same dimensions, and the length 1.
   *
   * @param texts - of any length; the driver sends as much as it supports
   * @throws {TextsRejected} when the endpoint does not accept these texts, or its settings
   * @throws when the endpoint does not respond in time, or not with valid vectors. No message contains a text or a key.
   */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>;
}

/** The endpoint does not accept a request, so that repeating the request does not help. */
export class TextsRejected extends Error {
  override readonly name: string = "TextsRejected";
}
