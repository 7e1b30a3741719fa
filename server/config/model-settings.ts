import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { MODEL_PROVIDERS, type ModelSettings } from "../drivers/language-model/ai-sdk-model.ts";
import { url } from "./url-setting.ts";

/** The variables of the language model. */
export const modelVariables = {
  MODEL_PROVIDER: z.enum(MODEL_PROVIDERS, { error: `must be one of: ${MODEL_PROVIDERS.join(", ")}` }).optional(),
  MODEL_NAME: z.string().optional(),
  MODEL_BASE_URL: url(["https:", "http:"], "https://models.example.com/v1").optional(),
  MODEL_API_KEY: z.string().optional(),
  BUILDER_MODEL: z.string().optional(),
};

/** The settings of the model of the app builder agent: another model of the same provider, if one is named. */
export function readBuilderModel(model: ModelSettings | null, name: string | undefined): ModelSettings | null {
  if (name === undefined) return model;
  if (model === null) throw new ConfigError("MODEL_PROVIDER must be set too, because BUILDER_MODEL is");
  return { ...model, name };
}

type ModelValues = { [K in keyof typeof modelVariables]?: z.output<(typeof modelVariables)[K]> };

/**
 * Combines the settings of the language model; `null` when none is configured.
 *
 * @throws {ConfigError} that names what is missing
 */
export function readModelSettings(values: ModelValues): ModelSettings | null {
  const { MODEL_PROVIDER: provider, MODEL_NAME: name, MODEL_BASE_URL: baseUrl, MODEL_API_KEY: apiKey } = values;
  if (provider === undefined) {
    const [present] = Object.entries({ MODEL_NAME: name, MODEL_BASE_URL: baseUrl, MODEL_API_KEY: apiKey }).find(
      ([, value]) => value !== undefined,
    ) ?? [null];
    if (present === null) return null;
    throw new ConfigError(`MODEL_PROVIDER must be set too, because ${present} is`);
  }
  if (name === undefined) throw new ConfigError("MODEL_NAME must be set too, because MODEL_PROVIDER is");
  if (provider === "openai-compatible" && baseUrl === undefined)
    throw new ConfigError("MODEL_BASE_URL must be set too, because MODEL_PROVIDER is openai-compatible");
  if (provider === "anthropic" && apiKey === undefined)
    throw new ConfigError("MODEL_API_KEY must be set too, because MODEL_PROVIDER is anthropic");
  return { provider, name, baseUrl: baseUrl?.replace(/(?<!\/)\/+$/, "") ?? null, apiKey: apiKey ?? null };
}
