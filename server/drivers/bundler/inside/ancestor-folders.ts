import path from "node:path";

/** Returns the folder and all folders above it, the nearest first. */
export function ancestorFolders(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestorFolders(parent)];
}
