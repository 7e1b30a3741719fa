import type { Embeddings, EmbedOptions } from "../../../domain/ports/embeddings.ts";

/**
 * Embeddings without an endpoint. The cosine of a text that contains `Cosine 0.8` and one that does not is 0.8; that of two texts
 * without it is 1.
 */
export class FakeEmbeddings implements Embeddings {
  readonly model: string;
  readonly minSimilarity = 0.5;
  readonly calls: { texts: readonly string[]; options: EmbedOptions }[] = [];
  /** Runs before each response. Its errors are those of the endpoint. */
  beforeResponse: (texts: readonly string[]) => void | Promise<void> = () => undefined;

  constructor(model = "m") {
    this.model = model;
  }

  async embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    this.calls.push({ texts, options });
    await this.beforeResponse(texts);
    return texts.map((text) => {
      const cosine = Number(/Cosine (-?\d\.\d+)/.exec(text)?.[1] ?? 1);
      return Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2));
    });
  }
}
