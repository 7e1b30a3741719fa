import { CliError } from "../cli-error.ts";

/** A value of a settings file. */
export type Settings = Readonly<Record<string, unknown>>;

/** The text of a settings file of another program, in a format. Everything that is not changed stays as it is, with its comments. */
export interface SettingsFormat {
  /** @throws {SettingsError} for a text that is not in this format */
  parse(text: string): Settings;
  /** Sets one value, and creates the objects on the way to it. @throws {SettingsError} when the text has no room for it */
  set(text: string, path: readonly string[], value: Settings): string;
  /** Returns a new file with only this value. */
  render(path: readonly string[], value: Settings): string;
}

/** A settings file that cannot be read or changed. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

export function isObject(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value at a path, or `undefined`. @throws {SettingsError} when the path leads through something else than an object */
export function readPath(settings: Settings, path: readonly string[]): unknown {
  let current: unknown = settings;
  for (const [depth, name] of path.entries()) {
    if (!isObject(current)) throw new SettingsError(`"${path.slice(0, depth).join(".")}" is not an object`);
    current = Object.hasOwn(current, name) ? current[name] : undefined;
    if (current === undefined) return undefined;
  }
  return current;
}

/** The error of a settings file, with the next step. */
export function explainSettingsError(file: string, error: SettingsError): CliError {
  const advice = "Correct it, then try again. With --print, the command only shows what to add.";
  return new CliError(`${file} was not changed: ${error.message}. ${advice}`, 1, { cause: error });
}
