import path from "node:path";

/**
 * The folders with the programs of the packages that a folder of a project uses, the nearest first, as in the PATH of `npm run`.
 *
 * @param root - the folder of the project inside the sandbox
 * @param directory - relative to it; `.` for itself
 */
export function installedProgramFolders(root: string, directory: string): string[] {
  const folder = path.posix.join(root, directory, "node_modules/.bin");
  return directory === "." ? [folder] : [folder, ...installedProgramFolders(root, path.posix.dirname(directory))];
}
