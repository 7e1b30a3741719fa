import type { AgentRuntime } from "../agents/agent-runtime.ts";
import { ServiceError } from "../shared/errors.ts";
import { isRecord } from "../shared/json.ts";

/** What a skill needs in order to work. All of it has to be there, and of `any_binaries` one. */
export interface SkillRequirements {
  binaries: string[];
  any_binaries: string[];
  environment: string[];
  configuration: string[];
  /** Empty for every platform. */
  platforms: string[];
}

/** The keys under which the fields of OpenClaw are in `metadata`: its name, and its earlier ones. */
const NAMESPACES = ["openclaw", "clawdbot", "moltbot"];
const MAX_NAMES = 50;
const MAX_NAME_LENGTH = 128;

/** Names of platforms that authors write, and their names in Node's `process.platform`. */
const PLATFORM_NAMES: Readonly<Record<string, string>> = { macos: "darwin", windows: "win32" };

/**
 * Reads the requirements that a SKILL.md declares as OpenClaw reads them: `metadata.openclaw.requires` with `bins`,
 * `anyBins`, `env` and `config`, and `metadata.openclaw.os` (docs.openclaw.ai, Skills).
 *
 * @throws {ServiceError} `invalid`
 */
export function readRequirements(metadata: Record<string, unknown>): SkillRequirements {
  const namespace = NAMESPACES.find((name) => isRecord(metadata[name])) ?? "openclaw";
  const declared = metadata[namespace];
  const { os, requires } = isRecord(declared) ? declared : {};
  const field = `metadata.${namespace}.requires`;
  if (requires !== undefined && requires !== null && !isRecord(requires))
    throw new ServiceError("invalid", `SKILL.md: ${field} must be a map with bins, anyBins, env and config.`);
  const { bins, anyBins, env, config } = requires ?? {};
  return {
    binaries: toNames(bins, `${field}.bins`),
    any_binaries: toNames(anyBins, `${field}.anyBins`),
    environment: toNames(env, `${field}.env`),
    configuration: toNames(config, `${field}.config`),
    platforms: toPlatforms(toNames(os, `metadata.${namespace}.os`)),
  };
}

function toPlatforms(names: readonly string[]): string[] {
  const lowercase = names.map((name) => name.toLowerCase());
  return [...new Set(lowercase.map((name) => PLATFORM_NAMES[name] ?? name))];
}

/** A list of names, or a text with commas between them. */
function toNames(value: unknown, field: string): string[] {
  if (value === undefined || value === null) return [];
  const list: unknown[] = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [value];
  const names = list.map((name) => (typeof name === "string" ? name.trim() : ""));
  const areValid = names.every((name) => /^[\x21-\x7e]+$/.test(name) && name.length <= MAX_NAME_LENGTH);
  if (areValid && names.length <= MAX_NAMES) return [...new Set(names)];
  throw new ServiceError(
    "invalid",
    `SKILL.md: ${field} must be a list of at most ${MAX_NAMES} names of 1 to ${MAX_NAME_LENGTH} visible ASCII characters.`,
  );
}

const UNKNOWN = "unknown: no runtime declared";

/**
 * Returns what keeps an agent from running a skill, one text for each reason. A requirement that the agent has not
 * declared to meet is missing. Of an agent without a declared runtime nothing is known, and the reasons say so.
 *
 * @param runtime - `null` for an agent that has declared nothing
 */
export function findMissing(requirements: SkillRequirements, runtime: AgentRuntime | null): string[] {
  const { binaries = [], environment = [], configuration = [], platform = null } = runtime ?? {};
  const { any_binaries: anyBinaries, platforms } = requirements;
  const lacksAll = anyBinaries.length > 0 && !anyBinaries.some((name) => binaries.includes(name));
  const isForeign = platforms.length > 0 && (platform === null || !platforms.includes(platform));
  const undeclared = runtime === null ? "" : ", the agent has not declared its own";
  const runs = platform === null ? undeclared : `, the agent runs ${platform}`;
  const reasons = [
    ...(isForeign ? [`platform: needs ${platforms.join(" or ")}${runs}`] : []),
    ...without(requirements.binaries, binaries).map((name) => `binary: ${name}`),
    ...(lacksAll ? [`binary: one of ${anyBinaries.join(", ")}`] : []),
    ...without(requirements.environment, environment).map((name) => `environment: ${name}`),
    ...without(requirements.configuration, configuration).map((name) => `configuration: ${name}`),
  ];
  return runtime === null ? reasons.map((reason) => `${reason} (${UNKNOWN})`) : reasons;
}

function without(required: readonly string[], present: readonly string[]): string[] {
  return required.filter((name) => !present.includes(name));
}
