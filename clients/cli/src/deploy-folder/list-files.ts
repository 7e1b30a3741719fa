import { execFile } from "node:child_process";
import { lstat, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import ignore from "ignore";
import {
  type IgnoreRules,
  isAlwaysLeftOut,
  isIgnored,
  isSecretFile,
} from "../../../../domain/archives/source-folder.ts";
import { CliError } from "../cli-error.ts";

const run = promisify(execFile);

/** A file or a symbolic link of a folder, by its path with `/` from the folder. */
export interface ListedFile {
  path: string;
  /** The target of a symbolic link. */
  isLink: boolean;
  size: number;
  isExecutable: boolean;
}

export interface ListedFolder {
  /** By path. */
  files: ListedFile[];
  /** Paths of files with secrets, which are left out. */
  secrets: string[];
  /** Paths of what is neither a file, a folder nor a link. */
  others: string[];
}

const LIST_BYTES = 256 * 1024 * 1024;

/**
 * Lists what a deployment of a folder contains: what git would add, without `node_modules` and, unless they are wanted, files with
 * secrets. Outside of git, the rules of `.gitignore` files count too.
 *
 * @throws {CliError} for a folder that cannot be read
 */
export async function listFolder(
  folder: string,
  { includesSecrets }: { includesSecrets: boolean },
): Promise<ListedFolder> {
  const listed: ListedFolder = { files: [], secrets: [], others: [] };
  try {
    for (const file of new Set((await listWithGit(folder)) ?? (await listWithRules(folder)))) {
      if (file.split("/").some(isAlwaysLeftOut)) continue;
      const name = path.posix.basename(file);
      if (!includesSecrets && isSecretFile(name)) listed.secrets.push(file);
      else await addFile(folder, file, listed);
    }
  } catch (error) {
    const { code, message, path: file } = error as NodeJS.ErrnoException;
    throw new CliError(`Cannot read ${file ?? folder}: ${code ?? message}.`, 1, { cause: error });
  }
  listed.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return listed;
}

async function addFile(folder: string, file: string, listed: ListedFolder): Promise<void> {
  const stats = await lstat(path.join(folder, file)).catch((error: NodeJS.ErrnoException) => {
    // Deleted, and still in the index of git.
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (stats === null) return;
  if (stats.isFile() || stats.isSymbolicLink())
    listed.files.push({
      path: file,
      isLink: stats.isSymbolicLink(),
      size: stats.isFile() ? stats.size : 0,
      isExecutable: (stats.mode & 0o100) !== 0,
    });
  // A submodule, or a repository in the repository.
  else if (stats.isDirectory()) {
    const inside = (await listWithGit(path.join(folder, file))) ?? (await listWithRules(path.join(folder, file)));
    for (const each of inside)
      if (!each.split("/").some(isAlwaysLeftOut)) await addFile(folder, path.posix.join(file, each), listed);
  } else listed.others.push(file);
}

/** Returns `null` if the folder is not in a git repository, is ignored by it, or if there is no git. */
async function listWithGit(folder: string): Promise<string[] | null> {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  try {
    const { stdout } = await run("git", args, { cwd: folder, maxBuffer: LIST_BYTES, windowsHide: true });
    const files = stdout.split("\0").filter((file) => file !== "");
    return files.length === 0 ? null : files.map((file) => file.replace(/\/$/, ""));
  } catch {
    return null;
  }
}

async function listWithRules(root: string, folder = "", outer: readonly IgnoreRules[] = []): Promise<string[]> {
  const own = await readFile(path.join(root, folder, ".gitignore"), "utf8").catch(() => null);
  const rules = own === null ? outer : [...outer, { folder, rules: ignore().add(own) }];
  const files: string[] = [];
  for (const entry of await readdir(path.join(root, folder), { withFileTypes: true })) {
    const file = path.posix.join(folder, entry.name);
    if (isAlwaysLeftOut(entry.name) || isIgnored(entry.isDirectory() ? `${file}/` : file, rules)) continue;
    if (entry.isDirectory()) files.push(...(await listWithRules(root, file, rules)));
    else files.push(file);
  }
  return files;
}
