import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { nullIfMissing } from "../../../files/missing-file.ts";
import { KeptFiles, type ServerFolders } from "./kept-files.ts";

const RECORD = "launch.json";

interface LaunchRecord {
  folders: ServerFolders;
  placed: readonly string[];
}

/** Writes what `keepFilesOfKilled` needs to the folder of a launch, to which the server cannot write. */
export async function writeLaunchRecord(folder: string, record: LaunchRecord): Promise<void> {
  await writeFile(path.join(folder, RECORD), JSON.stringify(record), { mode: 0o600 });
}

/**
 * Keeps the files of servers that were killed with the service, as at their end.
 *
 * @param launchRoot - the folder with those of the launches. No process may be using it
 * @param report - gets the error of a launch whose files cannot be kept
 */
export async function keepFilesOfKilled(launchRoot: string, report: (error: unknown) => void): Promise<void> {
  for (const entry of (await readdir(launchRoot, { withFileTypes: true }).catch(nullIfMissing)) ?? [])
    try {
      if (!entry.isDirectory()) continue;
      const text = await readFile(path.join(launchRoot, entry.name, RECORD), "utf8").catch(nullIfMissing);
      if (text === null) continue;
      const { folders, placed } = JSON.parse(text) as LaunchRecord;
      await new KeptFiles(folders, placed).keep();
    } catch (error) {
      report(error);
    }
}
