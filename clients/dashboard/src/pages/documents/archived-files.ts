import { unzipSync } from "fflate";
import { ARCHIVE_LIMITS, ArchiveError, ArchiveSelection } from "../../../../../domain/documents/archive-files.ts";
import type { DroppedFile } from "../../ui/dropped-files.ts";
import { formatBytes } from "../../ui/quantities.ts";

/** A file that was chosen, and perhaps why it is not uploaded. */
interface ChosenFile extends DroppedFile {
  obstacle: string | null;
}

export interface Choice {
  files: ChosenFile[];
  /** Hidden files and folders, which are left out. */
  hidden: number;
}

/** Unpacks a zip archive in memory. Its files have the names that they would have in a folder. */
export async function listArchive({ path, file }: DroppedFile): Promise<Choice> {
  const refuse = (obstacle: string): Choice => ({ files: [{ path, file, obstacle }], hidden: 0 });
  const { clientBytes } = ARCHIVE_LIMITS;
  if (file.size > clientBytes)
    return refuse(`The archive has ${formatBytes(file.size)}. At most ${formatBytes(clientBytes)} are unpacked.`);
  try {
    const archive = new Uint8Array(await file.arrayBuffer());
    const selection = new ArchiveSelection(archive);
    const unpacked = unzipSync(archive, { filter: (entry) => selection.accepts(entry) });
    const files = selection.list(path).map(({ path: inside, name, problem }) => ({
      path: name,
      file: new File([(unpacked[inside] ?? new Uint8Array()) as BlobPart], name),
      obstacle: problem === null ? null : `The file ${problem}`,
    }));
    if (files.length === 0) return refuse("The archive has no files.");
    return { files, hidden: selection.leftOut };
  } catch (error) {
    if (error instanceof ArchiveError) return refuse(`The archive ${error.message}`);
    return refuse("The file is not a zip archive, or it is damaged.");
  }
}
