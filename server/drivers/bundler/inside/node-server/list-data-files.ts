import { readdirSync, statSync } from "node:fs";
import path from "node:path";

/** A file of the repository or a package, relative to the folder of the app. */
export type DataFile = string;

/** The upload form may have 2000 parts, and the files are kept in memory. */
const MAX_FILES = 1000;
const MAX_BYTES = 16 * 1024 * 1024;

const NO_DATA =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?)$|\.(map|[cm]?tsx?)$/;

export interface DataFileRules {
  /** Modules in the bundle, which are omitted. */
  bundled: ReadonlySet<string>;
  /** Modules in the bundle that are listed, because the server finds them in their folders. */
  listed: ReadonlySet<string>;
  /** Packages whose files are listed too. */
  packageFolders: Iterable<string>;
  /** A folder whose files are omitted, such as that of static files. */
  omittedFolder: string | undefined;
}

/**
 * Lists the files that a server may read: those of the repository and of the build, without hidden files and the modules
 * that are in the bundle already.
 */
export function listDataFiles({ bundled, listed, packageFolders, omittedFolder }: DataFileRules): {
  files: DataFile[];
  warnings: string[];
} {
  const files: string[] = [];
  let bytes = 0;
  for (const file of [".", ...packageFolders].flatMap((folder) => [...walk(folder, omittedFolder)])) {
    if (!listed.has(file) && (bundled.has(file) || NO_DATA.test(file))) continue;
    bytes += statSync(file).size;
    if (bytes > MAX_BYTES || files.length >= MAX_FILES)
      return {
        files,
        warnings: [
          `The server can read only the first ${files.length} files of the repository and its packages: at most ${MAX_FILES} files and 16 MiB. The first one left out is ${file}.`,
        ],
      };
    files.push(file);
  }
  return { files, warnings: [] };
}

/** Breadth first, so that large folders at the end leave out the least. Follows no link. */
function* walk(root: string, omitted: string | undefined): Generator<string> {
  const folders = [root];
  for (const folder of folders) {
    const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const file = path.posix.join(folder, entry.name);
      if (entry.isDirectory() && file !== omitted) folders.push(file);
      else if (entry.isFile()) yield file;
    }
  }
}
