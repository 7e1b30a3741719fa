import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { nullIfMissing } from "../../../files/missing-file.ts";
import type { RecordSink } from "../runtime-logs/record-sink.ts";
import { KEPT, KeptFiles, type ServerFolders } from "./kept-files.ts";

const RECORD = "launch.json";

interface LaunchRecord {
  folders: ServerFolders;
  placed: readonly string[];
}

/**
 * Places the files that earlier processes of an app have left beside its code.
 *
 * @param folder - the folder of the launch, to which the server cannot write. It gets what `keepFilesOfKilled` needs
 */
export async function placeFiles(
  folder: string,
  folders: ServerFolders,
  records: RecordSink | undefined,
): Promise<KeptFiles> {
  const kept = new KeptFiles(folders);
  for (const notice of await kept.place()) records?.print([Date.now(), "warn", null, notice]);
  const record: LaunchRecord = { folders, placed: kept.placed };
  await writeFile(path.join(folder, RECORD), JSON.stringify(record), { mode: 0o600 });
  return kept;
}

/** Keeps what a server wrote beside its code, after its end. */
export async function keepFiles(kept: KeptFiles, records: RecordSink | undefined): Promise<void> {
  const print = (level: string, message: string) => records?.print([Date.now(), level, null, message]);
  try {
    const { added, isComplete } = await kept.keep();
    if (added.length > 0) print("info", `${describeKept(added)} will be at the same place at the next start.`);
    if (!isComplete) print("warn", "The server has written too many files beside /data. Not all of them are kept.");
  } catch (error) {
    // How the server ended is known without this.
    print("warn", `What the server wrote beside /data could not be kept: ${codeOf(error)}.`);
  }
}

/** Messages have paths of the host. */
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? "unknown error";

const MAX_NAMED = 10;

/** Names what is kept, at the beginning of a sentence. */
function describeKept(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  const named = names.slice(0, MAX_NAMED).map((name) => JSON.stringify(name));
  return `What the server wrote beside its code is kept in /data/${KEPT}: ${named.join(", ")}${more}. It`;
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
