/** Returns the files that a user has dropped, also those in folders, with the names of their folders. */
export async function filesOfDrop({ items }: DataTransfer): Promise<File[]> {
  // The list of the event is empty as soon as the event has ended.
  const entries = Array.from(items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const files: File[] = [];
  for (const entry of entries) await collect(entry, files);
  return files;
}

async function collect(entry: FileSystemEntry, files: File[]): Promise<void> {
  if (entry instanceof FileSystemFileEntry) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    const name = entry.fullPath.replace(/^\//, "");
    files.push(new File([file], name, { type: file.type }));
  } else if (entry instanceof FileSystemDirectoryEntry) {
    const reader = entry.createReader();
    // The browser returns at most 100 entries at a time.
    for (;;) {
      const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (part.length === 0) break;
      for (const child of part) await collect(child, files);
    }
  }
}
