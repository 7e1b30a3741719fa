import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { replaceFile } from "../files/durable-files.ts";
import { nullIfMissing } from "../files/missing-file.ts";

/**
 * - `active`: the installation to which the apps, and what is outside of the data folder, belong
 * - `restoring`: a restore has not finished, so the data folder is incomplete
 * - `restored`: a copy of an installation that may still run
 */
export type InstallationState = "active" | "restoring" | "restored";

/** What an installation is. Its copies have the same id. */
export interface Installation {
  id: string;
  /** Higher after each time that a copy has taken over. */
  epoch: number;
  state: InstallationState;
}

const STATES: readonly string[] = ["active", "restoring", "restored"] satisfies InstallationState[];

/** Returns what the data folder says about itself; `null` if it says nothing. @throws for a damaged file */
export async function readInstallation(dataDirectory: string): Promise<Installation | null> {
  const file = fileOf(dataDirectory);
  const text = await readFile(file, "utf8").catch(nullIfMissing);
  if (text === null) return null;
  const { id, epoch, state } = JSON.parse(text) as Partial<Installation>;
  if (typeof id === "string" && typeof epoch === "number" && STATES.includes(String(state)))
    return { id, epoch, state: state as InstallationState };
  throw new Error(`${file} is damaged`);
}

/** Returns the installation in the data folder, which gets an id if it has none. */
export async function identifyInstallation(dataDirectory: string): Promise<Installation> {
  const found = await readInstallation(dataDirectory);
  if (found !== null) return found;
  const created: Installation = { id: randomUUID(), epoch: 1, state: "active" };
  await writeInstallation(dataDirectory, created);
  return created;
}

/** Replaces the file atomically. */
export async function writeInstallation(dataDirectory: string, installation: Installation): Promise<void> {
  await replaceFile(fileOf(dataDirectory), `${JSON.stringify(installation)}\n`);
}

function fileOf(dataDirectory: string): string {
  return path.join(dataDirectory, "installation.json");
}
