import path from "node:path";
import { z } from "zod";
import { parseJson } from "../../domain/shared/json.ts";
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
  BUILDER_COMMAND: z.string().transform(parseCommand).optional(),
  BUILDER_FOLDER: z.string().refine(path.isAbsolute, "must be an absolute path").optional(),
};

/** The app builder agent: the tool loop of the service, or the command line of another agent. */
export interface BuilderSettings {
  model: ModelSettings;
  /** Program and arguments; `null` for the tool loop. */
  command: readonly [string, ...string[]] | null;
  /** A folder that the command needs in the sandbox. */
  folder: string | null;
}

/** The place of the request in a command. */
const REQUEST_FILE = "{request_file}";

function parseCommand(text: string, context: z.RefinementCtx<string>): [string, ...string[]] {
  const command = commandSchema.safeParse(parseJson(text));
  if (command.success && command.data.some((part) => part.includes(REQUEST_FILE))) return command.data;
  const example = `["my-agent", "--file", "${REQUEST_FILE}"]`;
  context.addIssue(`must be a JSON array with the program, its arguments and ${REQUEST_FILE}, such as ${example}`);
  return z.NEVER;
}

const commandSchema = z.tuple([z.string().min(1)], z.string());

/**
 * Combines the settings of the app builder agent; `null` without a language model.
 *
 * @throws {ConfigError} that names what is missing
 */
export function readBuilderSettings(model: ModelSettings | null, values: ModelValues): BuilderSettings | null {
  const { BUILDER_MODEL: name, BUILDER_COMMAND: command = null, BUILDER_FOLDER: folder = null } = values;
  if (model !== null) return { model: name === undefined ? model : { ...model, name }, command, folder };
  const given = { BUILDER_MODEL: name, BUILDER_COMMAND: command ?? undefined, BUILDER_FOLDER: folder ?? undefined };
  const [present] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (present !== undefined) throw new ConfigError(`MODEL_PROVIDER must be set too, because ${present} is`);
  return null;
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
