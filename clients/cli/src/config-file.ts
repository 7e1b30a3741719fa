import { readFile } from "node:fs/promises";
import path from "node:path";
import { CliError } from "./cli-error.ts";
import { checkReplaceable, replaceFile } from "./replace-file.ts";

/** A sign-in with a token that the user has passed. */
interface TokenCredentials {
  kind: "token";
  token: string;
}

/** A sign-in on the device page. */
export interface OAuthCredentials {
  kind: "oauth";
  client_id: string;
  access_token: string;
  /** Milliseconds since the epoch. */
  expires_at: number;
  refresh_token: string;
}

export type Credentials = TokenCredentials | OAuthCredentials;

/** What is stored about one service. */
export interface ServiceSettings {
  credentials?: Credentials;
  /** For the tool gateway, instead of the credentials. */
  personal_access_token?: string;
  /** The id of the organization of calls. */
  organization?: string;
}

export interface Config {
  /** The URL of the service that commands use by default. */
  url?: string;
  services: Record<string, ServiceSettings>;
}

const FILE_OPTIONS = { mode: 0o600, folderMode: 0o700 };
/** What to do without a file for a sign-in. */
const SIGN_IN_ADVICE = "Set XDG_CONFIG_HOME to another folder, or pass a token in SVC_TOKEN.";

/** The configuration file, which contains credentials: only its owner can read it. */
export class ConfigFile {
  readonly path: string;

  constructor(folder: string) {
    this.path = path.join(folder, "config.json");
  }

  /** @throws {CliError} for a file that cannot be read or is not a configuration */
  async read(): Promise<Config> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return { services: {} };
      throw new CliError(`Cannot read ${this.path}: ${code ?? message}. Correct its permissions.`, 1, { cause: error });
    }
    const config = parseConfig(text);
    if (config === null)
      throw new CliError(`${this.path} is not a valid configuration. Correct it, or remove it and run: svc login`);
    return config;
  }

  /**
   * Changes the file at once or not at all. Reads it again first, because another command may have changed it.
   *
   * @param advice - what to do when the file cannot be written, as a sentence
   */
  async update(change: (config: Config) => void, advice?: string): Promise<void> {
    const config = await this.read();
    change(config);
    const options = advice === undefined ? FILE_OPTIONS : { ...FILE_OPTIONS, advice };
    await replaceFile(this.path, `${JSON.stringify(config, null, 2)}\n`, options);
  }

  /**
   * Checks that a sign-in can be stored, before the service creates or replaces one. Changes nothing.
   *
   * @throws {CliError} when the file is not valid, or cannot be written
   */
  async checkSignInStorable(): Promise<void> {
    await this.read();
    await checkReplaceable(this.path, { ...FILE_OPTIONS, advice: SIGN_IN_ADVICE });
  }
}

function parseConfig(text: string): Config | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || !isRecord(value["services"]) || !Object.values(value["services"]).every(isRecord))
      return null;
    return value as unknown as Config;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
