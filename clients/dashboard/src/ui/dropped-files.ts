/** A file that a user has dropped or chosen. */
export interface DroppedFile {
  /** The name with its folders, such as `pricing/list.pdf`. */
  path: string;
  file: File;
}

export interface DroppedFiles {
  files: DroppedFile[];
  /** How many files and folders were left out. */
  leftOut: number;
}

/**
 * Returns the files that a user has dropped, also those in folders. Call it during the event.
 *
 * @param isLeftOut - whether to leave out files and folders with this name
 */
export async function listDroppedFiles(
  { items }: DataTransfer,
  isLeftOut: (name: string) => boolean = () => false,
): Promise<DroppedFiles> {
  // The list of the event is empty as soon as the event has ended.
  const entries = Array.from(items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const found: DroppedFiles = { files: [], leftOut: 0 };
  const collect = async (entry: FileSystemEntry): Promise<void> => {
    if (isLeftOut(entry.name)) found.leftOut++;
    else if (entry.isDirectory)
      for (const child of await readFolder(entry as FileSystemDirectoryEntry)) await collect(child);
    else {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      found.files.push({ path: entry.fullPath.replace(/^\//, ""), file });
    }
  };
  for (const entry of entries) await collect(entry);
  return found;
}

async function readFolder(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  // The browser returns at most 100 entries at a time.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return entries;
    entries.push(...part);
  }
}
