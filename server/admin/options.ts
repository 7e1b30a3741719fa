import { parseArgs } from "node:util";
import { isUuid } from "../../domain/shared/ids.ts";
import { isTokenKind, TOKEN_KINDS, type TokenKind } from "../../domain/shared/caller.ts";

const OPTIONS = {
  org: { type: "string" },
  email: { type: "string" },
  kind: { type: "string" },
  name: { type: "string" },
  agent: { type: "string" },
  id: { type: "string" },
  plan: { type: "string" },
  to: { type: "string" },
  backup: { type: "string" },
  keep: { type: "string" },
  "take-over": { type: "boolean", default: false },
  "expires-in-days": { type: "string" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

const EXAMPLE_ID = "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e";
const DAY_MS = 86_400_000;

export type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>>["values"];

/** The command line is invalid. `message` is for the operator. */
export class UsageError extends Error {}

/** @throws {UsageError} for an unknown option */
export function parseCommandLine(): { options: Options; command: string; argument: string | undefined } {
  try {
    const { values: options, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
    return { options, command: positionals[0] ?? "", argument: positionals[1] };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** @throws {UsageError} when the option is missing or empty */
export function requireOption(
  options: Options,
  name: "org" | "email" | "kind" | "name" | "agent" | "id" | "plan",
): string {
  const value = options[name];
  if (value === undefined || value === "") throw new UsageError(`--${name} is missing`);
  return value;
}

/** @throws {UsageError} */
export function requireId(options: Options, name: "org" | "agent" | "id"): string {
  const value = requireOption(options, name);
  if (!isUuid(value)) throw new UsageError(`--${name} must be an id, such as ${EXAMPLE_ID}`);
  return value;
}

/** @throws {UsageError} */
export function requireTokenKind(options: Options): TokenKind {
  const kind = requireOption(options, "kind");
  if (!isTokenKind(kind)) throw new UsageError(`--kind must be one of ${TOKEN_KINDS.join(", ")}`);
  return kind;
}

/**
 * How many backups to keep; `null` for all.
 *
 * @throws {UsageError}
 */
export function readKeep({ keep }: Options): number | null {
  if (keep === undefined) return null;
  if (!/^[1-9]\d{0,3}$/.test(keep)) throw new UsageError("--keep must be a whole number of backups, such as 14");
  return Number(keep);
}

/**
 * The expiry as RFC 3339; `undefined` for a token that does not expire.
 *
 * @throws {UsageError}
 */
export function readExpiry(options: Options): string | undefined {
  const days = options["expires-in-days"];
  if (days === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(days))
    throw new UsageError("--expires-in-days must be a whole number of days, such as 90");
  return new Date(Date.now() + Number(days) * DAY_MS).toISOString();
}
