import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { CliError } from "./cli-error.ts";

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
  /** The id of the organization of calls. */
  organization?: string;
}

export interface Config {
  /** The URL of the service that commands use by default. */
  url?: string;
  services: Record<string, ServiceSettings>;
}

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

  /** Changes the file at once or not at all. Reads it again first, because another command may have changed it. */
  async update(change: (config: Config) => void): Promise<void> {
    const config = await this.read();
    change(config);
    const temporary = `${this.path}.${randomUUID()}`;
    try {
      await mkdir(path.dirname(this.path), { recursive: true, mode: 0o700 });
      const file = await open(temporary, "wx", 0o600);
      try {
        await file.writeFile(`${JSON.stringify(config, null, 2)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, this.path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw this.#explainWriteError(error as NodeJS.ErrnoException);
    }
  }

  #explainWriteError(error: NodeJS.ErrnoException): CliError {
    const { code, message } = error;
    const reason = WRITE_PROBLEMS[code ?? ""] ?? code ?? message;
    const advice = "Set XDG_CONFIG_HOME to another folder, or pass a token in SVC_TOKEN.";
    return new CliError(`Cannot write ${this.path}: ${reason}. ${advice}`, 1, { cause: error });
  }
}

const WRITE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is exceeded",
  EROFS: "the file system is read-only",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOTDIR: "a part of the path is not a folder",
};

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
