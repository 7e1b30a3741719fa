import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { ConfigError } from "../config.ts";
import { replaceFile } from "../files/durable-files.ts";

/** The configured secret, or the one kept in the data folder, which is generated on the first start. */
export async function tokenSecret(configured: string | null, dataDirectory: string): Promise<string> {
  if (configured !== null) return configured;
  const folder = path.join(dataDirectory, "secrets");
  const file = path.join(folder, "token-secret");
  const kept = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (kept !== null && kept.trim().length >= 32) return kept.trim();
  // A new one would change the token of every app, which is not for the service to decide.
  if (kept !== null)
    throw new ConfigError(`${file} is damaged: put it back from a backup, or remove it to change every app token`);
  const generated = randomBytes(32).toString("hex");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceFile(file, `${generated}\n`, 0o600);
  return generated;
}
