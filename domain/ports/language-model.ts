export interface ModelRequest {
  /** What the model should do: written by the service. */
  instructions: string;
  /** The data, with a question of a caller and texts of documents in it. */
  prompt: string;
  maxTokens: number;
  /** The maximum size of the body of the endpoint's response, in bytes. */
  maxBytes: number;
}

/** Writes texts. It knows nothing that is not in its request, and calls no tool. */
export interface LanguageModel {
  /**
   * Returns the text that the model writes, which is untrusted. Not repeated by the driver beyond its time limit.
   *
   * @throws when the endpoint does not respond in time, or responds with an error, a redirect or a body that is too large
   */
  generate(request: ModelRequest, signal?: AbortSignal): Promise<string>;
}
