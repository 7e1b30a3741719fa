import { existsSync } from "node:fs";
import path from "node:path";
import { ConfigError } from "./config-error.ts";

/** The file with the secret of an installation that was started without `TOKEN_SECRET`. */
export function tokenSecretFile(dataDirectory: string): string {
  return path.join(dataDirectory, "secrets", "token-secret");
}

interface TokenSecretSettings {
  NODE_ENV: string;
  DATA_DIR: string;
  DATABASE_URL?: string | undefined;
  TOKEN_SECRET?: string | undefined;
}

/**
 * The secret belongs to the database, because it encrypts values in it. A database that several machines can reach needs a
 * secret that all of them have, which a file in the data folder of one is not.
 *
 * @throws {ConfigError} that names the file with the present secret if there is one
 */
export function requireTokenSecret({ NODE_ENV, DATA_DIR, DATABASE_URL, TOKEN_SECRET }: TokenSecretSettings): void {
  const reason = DATABASE_URL !== undefined ? "DATABASE_URL" : NODE_ENV === "production" ? "NODE_ENV=production" : null;
  if (reason === null || TOKEN_SECRET !== undefined) return;
  const file = tokenSecretFile(path.resolve(DATA_DIR));
  throw new ConfigError(
    existsSync(file)
      ? `TOKEN_SECRET is required with ${reason}. This installation has a secret in ${file}. Set TOKEN_SECRET to the content of this file: with another secret, app tokens change and encrypted values cannot be read.`
      : `TOKEN_SECRET is required with ${reason}, such as the output of: openssl rand -hex 32`,
  );
}
