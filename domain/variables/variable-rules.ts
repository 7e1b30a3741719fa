import { ServiceError } from "../shared/errors.ts";

/** The limits of the variables of one app. Together they must fit in the environment of a process. */
export const VARIABLE_LIMITS = { count: 100, nameLength: 128, valueBytes: 32 * 1024, totalBytes: 256 * 1024 } as const;

const NAME = /^[A-Z][A-Z0-9_]*$/;

/** Names that the platform sets, or that change how the programs of a build start. */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  "CF_PAGES",
  "CI",
  "FORCE_COLOR",
  "HOME",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "LANG",
  "NODE_COMPILE_CACHE",
  "NO_COLOR",
  "NO_PROXY",
  "NO_UPDATE_NOTIFIER",
  "PATH",
  "PWD",
  "SHELL",
  "TMPDIR",
  "TZ",
  "USER",
  "WORKERS_CI",
]);

/** The beginnings of further reserved names. */
const RESERVED_PREFIXES = ["COREPACK_", "LD_", "MINIFLARE_", "NPM_CONFIG_", "SERVICE_", "TOOLCHAIN_", "WRANGLER_"];

/** Whether a text has the form of a name, which may be reserved. */
export function hasNameFormat(name: string): boolean {
  return NAME.test(name) && name.length <= VARIABLE_LIMITS.nameLength;
}

/**
 * @param field - the field of the input, for the error
 * @throws {ServiceError} `invalid` for a name that no variable may have
 */
export function checkName(name: string, field = "name"): void {
  if (!hasNameFormat(name))
    throw new ServiceError(
      "invalid",
      `${field}: must match ^[A-Z][A-Z0-9_]*$ and have at most ${VARIABLE_LIMITS.nameLength} characters. Example: "API_KEY".`,
    );
  const prefix = RESERVED_PREFIXES.find((reserved) => name.startsWith(reserved));
  if (prefix === undefined && !RESERVED_NAMES.has(name)) return;
  const reserved = prefix === undefined ? `"${name}" is` : `names that start with "${prefix}" are`;
  throw new ServiceError("invalid", `${field}: ${reserved} reserved for the platform. Choose another name.`);
}

/**
 * @param field - the field of the input, for the error, which never contains the value
 * @throws {ServiceError} `invalid` for a value that no variable may have
 */
export function checkValue(value: string, field = "value"): void {
  if (!value.isWellFormed() || value.includes("\0"))
    throw new ServiceError("invalid", `${field}: must be text without NUL characters and unpaired surrogates.`);
  const bytes = Buffer.byteLength(value);
  if (bytes > VARIABLE_LIMITS.valueBytes)
    throw new ServiceError(
      "invalid",
      `${field}: has ${bytes} bytes, but may have at most ${VARIABLE_LIMITS.valueBytes}. Keep large data in files or in the app's storage.`,
    );
}

/** What a variable counts against the bound of its app. */
export function variableSizeBytes({ name, value }: { name: string; value: string }): number {
  return Buffer.byteLength(name) + Buffer.byteLength(value);
}

/**
 * Checks the variables of an app as they would be with one more or one larger variable.
 *
 * @throws {ServiceError} `invalid` when there would be too many, or too much together
 */
export function checkTotal(sizesBytes: readonly number[]): void {
  const { count, totalBytes } = VARIABLE_LIMITS;
  if (sizesBytes.length > count)
    throw new ServiceError(
      "invalid",
      `The app has ${count} variables, the most that an app can have. Delete one first.`,
    );
  const total = sizesBytes.reduce((sum, bytes) => sum + bytes, 0);
  if (total > totalBytes)
    throw new ServiceError(
      "invalid",
      `The names and values of the app's variables would have ${total} bytes together, but may have at most ${totalBytes}.`,
    );
}
