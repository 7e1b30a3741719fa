import { describe, expect, test } from "vitest";
import type { Embeddings } from "../../domain/ports/embeddings.ts";
import { AiSdkEmbeddings } from "../../server/drivers/embeddings/ai-sdk-embeddings.ts";
import { openScriptedEmbeddings } from "../support/search/scripted-embeddings.ts";

interface EmbeddingsSetting extends AsyncDisposable {
  /** A driver whose endpoint is available. */
  embeddings: Embeddings;
  /** Makes every further request fail until `restore` is called. */
  fail(): void;
  restore(): void;
}

const OPTIONS = { timeLimitMs: 10_000 };

/** The contract of every `Embeddings`. */
function embeddingsContract(driver: string, open: () => Promise<EmbeddingsSetting>): void {
  describe(`embeddings (${driver})`, () => {
    test("each text has a vector of the length 1, and all vectors have the same dimensions", async () => {
      await using setting = await open();
      const texts = ["a short text", "", "\0 \uD800", "x".repeat(100_000)];
      const vectors = await setting.embeddings.embed(texts, OPTIONS);
      expect(vectors.map((vector) => Math.hypot(...vector))).toEqual(texts.map(() => expect.closeTo(1, 5)));
      expect(new Set(vectors.map(({ length }) => length)).size).toBe(1);
    });

    test("vectors have the order of the texts, however many they are", async () => {
      await using setting = await open();
      const texts = Array.from({ length: 150 }, (_, index) => `word${"abcdefghij"[index % 10]} ${index}`);
      const vectors = await setting.embeddings.embed(texts, OPTIONS);
      const [last] = await setting.embeddings.embed(texts.slice(-1), OPTIONS);
      expect([vectors.length, vectors.at(-1)]).toEqual([150, last]);
      expect(await setting.embeddings.embed([], OPTIONS)).toEqual([]);
    });

    test("a call can be repeated after a failure", async () => {
      await using setting = await open();
      setting.fail();
      await expect(setting.embeddings.embed(["a"], OPTIONS)).rejects.toThrow(/./);
      setting.restore();
      expect(await setting.embeddings.embed(["a"], OPTIONS)).toHaveLength(1);
    });

    test("an aborted call rejects with the reason", async () => {
      await using setting = await open();
      const signal = AbortSignal.abort(new Error("the service is stopping"));
      await expect(setting.embeddings.embed(["a"], { ...OPTIONS, signal })).rejects.toThrow("the service is stopping");
    });
  });
}

embeddingsContract("AI SDK", async () => {
  const endpoint = await openScriptedEmbeddings();
  return {
    embeddings: new AiSdkEmbeddings(endpoint.settings),
    fail: () => endpoint.fail(500),
    restore: () => endpoint.fail(null),
    [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose](),
  };
});
