import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { ConfigError } from "../config/config-error.ts";
import { replaceFile } from "../files/durable-files.ts";
import { nullIfMissing } from "../files/missing-file.ts";

const MIN_LENGTH = 32;

/**
 * Returns the configured secret, or without one the secret in the data folder. The first start generates it.
 *
 * @throws {ConfigError} when the stored secret is damaged
 */
export async function loadTokenSecret(configured: string | null, dataDirectory: string): Promise<string> {
  if (configured !== null) return configured;
  const folder = path.join(dataDirectory, "secrets");
  const file = path.join(folder, "token-secret");
  const stored = (await readFile(file, "utf8").catch(nullIfMissing))?.trim();
  if (stored !== undefined && stored.length >= MIN_LENGTH) return stored;
  // A new secret would change the token of every app, which only the operator may decide.
  if (stored !== undefined)
    throw new ConfigError(`${file} is damaged. Restore it from a backup, or remove it to change every app token.`);
  const generated = randomBytes(32).toString("hex");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceFile(file, `${generated}\n`, 0o600);
  return generated;
}
