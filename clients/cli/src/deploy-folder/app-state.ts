import { readFile } from "node:fs/promises";
import path from "node:path";
import { STATE_FILE } from "../../../../domain/archives/source-folder.ts";
import { CliError } from "../cli-error.ts";
import { checkReplaceable, replaceFile } from "../replace-file.ts";

/** Which app a folder is deployed as. It contains no secrets. */
export interface AppState {
  /** The URL of the service. */
  service: string;
  app_id: string;
}

/** @returns `null` for a folder that was never deployed. @throws {CliError} for a file that is not a state */
export async function readAppState(folder: string): Promise<AppState | null> {
  const file = path.join(folder, STATE_FILE);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new CliError(`Cannot read ${file}: ${error.code ?? error.message}.`, 1, { cause: error });
  });
  if (text === null) return null;
  const state = parse(text);
  if (state === null) throw new CliError(`${file} is not valid. Remove it, or deploy a new app with --new.`);
  return state;
}

/** Checks before the app is created that it can be recorded. @throws {CliError} */
export function checkAppState(folder: string): Promise<void> {
  return checkReplaceable(path.join(folder, STATE_FILE));
}

export function writeAppState(folder: string, state: AppState): Promise<void> {
  return replaceFile(path.join(folder, STATE_FILE), `${JSON.stringify(state, null, 2)}\n`);
}

function parse(text: string): AppState | null {
  try {
    const { service, app_id: appId } = (JSON.parse(text) ?? {}) as Partial<AppState>;
    return typeof service === "string" && typeof appId === "string" ? { service, app_id: appId } : null;
  } catch {
    return null;
  }
}
