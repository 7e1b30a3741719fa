import { readConfig } from "../../server/config.ts";
import { ConfigError } from "../../server/config/config-error.ts";

/** Reads a configuration that is invalid, and returns the message of the ConfigError. */
export function configError(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error(`${JSON.stringify(env)} was accepted`);
}
