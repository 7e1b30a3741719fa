import type { LanguageModel as AiModel } from "ai";
import { createBoundedFetch } from "../../http/bounded-fetch.ts";
import type { LanguageModel, ModelRequest } from "../../../domain/ports/language-model.ts";

export const MODEL_PROVIDERS = ["openai-compatible", "anthropic"] as const;

export interface ModelSettings {
  provider: (typeof MODEL_PROVIDERS)[number];
  name: string;
  /** `null` for the endpoint of Anthropic. */
  baseUrl: string | null;
  /** `null` for an endpoint without authentication. */
  apiKey: string | null;
}

const TIMEOUT_MS = 20_000;

/** Calls an endpoint with the Vercel AI SDK, which is loaded on first use. */
export class AiSdkModel implements LanguageModel {
  readonly #settings: ModelSettings;
  readonly #timeoutMs: number;

  constructor(settings: ModelSettings, timeoutMs = TIMEOUT_MS) {
    this.#settings = settings;
    this.#timeoutMs = timeoutMs;
  }

  async generate({ instructions, prompt, maxTokens, maxBytes }: ModelRequest, signal?: AbortSignal): Promise<string> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const { generateText } = await import("ai");
    const { text } = await generateText({
      model: await openModel(this.#settings, createBoundedFetch(maxBytes)),
      instructions,
      prompt,
      maxOutputTokens: maxTokens,
      maxRetries: 1,
      abortSignal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    return text;
  }
}

/** @param fetch - makes the requests of the model */
export async function openModel(
  { provider, name, baseUrl, apiKey }: ModelSettings,
  fetch: typeof globalThis.fetch,
): Promise<AiModel> {
  const key = { fetch, ...(apiKey !== null && { apiKey }) };
  if (provider === "anthropic") {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ ...key, ...(baseUrl !== null && { baseURL: baseUrl }) })(name);
  }
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  return createOpenAICompatible({ name: provider, baseURL: baseUrl ?? "", ...key })(name);
}
