import { ServiceError } from "../shared/errors.ts";

/** The values of Node's `process.platform` that agents have. Skills name the same ones. */
export const PLATFORMS = ["linux", "darwin", "win32"] as const;

export type Platform = (typeof PLATFORMS)[number];

/** What an agent declares of the machine that it runs on. Of environment variables it contains no values. */
export interface AgentRuntime {
  /** `null` when it is not known. */
  platform: Platform | null;
  /** The names of the programs that the agent can start, such as `ffmpeg`. */
  binaries: string[];
  /** The names of the environment variables that are set. */
  environment: string[];
  /** The configuration keys that are set, such as `channels.slack`. */
  configuration: string[];
}

export interface DeclareRuntime {
  platform?: Platform | null | undefined;
  binaries?: string[] | undefined;
  environment?: string[] | undefined;
  configuration?: string[] | undefined;
}

const RUNTIME_LIMITS = {
  /** Of each list. */
  names: 1000,
  nameLength: 128,
} as const;

/** Each list with the names it accepts, and the rule in words. */
const NAME_RULES = {
  binaries: [/^[\w.+-]+$/, "must be names of programs without a path, such as ffmpeg"],
  environment: [
    /^[A-Za-z_]\w*$/,
    "must be names of environment variables without their values, such as OPENAI_API_KEY",
  ],
  configuration: [/^[\w./:@-]+$/, "must be configuration keys without their values, such as channels.slack"],
} as const satisfies Record<string, readonly [RegExp, string]>;

/**
 * Returns the declared runtime with sorted lists without duplicates.
 *
 * @throws {ServiceError} `invalid`; the message contains no name, because it could be a value
 */
export function toRuntime({ platform = null, ...lists }: DeclareRuntime): AgentRuntime {
  const toList = (field: keyof typeof NAME_RULES): string[] => {
    const names = [...new Set(lists[field])].toSorted();
    const [pattern, rule] = NAME_RULES[field];
    if (names.length > RUNTIME_LIMITS.names)
      throw new ServiceError(
        "invalid",
        `${field}: has ${names.length} names, and at most ${RUNTIME_LIMITS.names} are allowed.`,
      );
    if (!names.every((name) => pattern.test(name) && name.length <= RUNTIME_LIMITS.nameLength))
      throw new ServiceError("invalid", `${field}: ${rule}, of at most ${RUNTIME_LIMITS.nameLength} characters.`);
    return names;
  };
  return {
    platform,
    binaries: toList("binaries"),
    environment: toList("environment"),
    configuration: toList("configuration"),
  };
}
