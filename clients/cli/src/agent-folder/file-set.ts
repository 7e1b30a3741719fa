import { createHash } from "node:crypto";

/** The contents of files by their paths, relative to their folder, with `/` between folders. */
export type FileSet = ReadonlyMap<string, Buffer>;

/** The hash of paths and contents. */
export function hashFiles(files: FileSet): string {
  const hash = createHash("sha256");
  for (const [path, content] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    // The size separates the contents.
    hash.update(`${JSON.stringify(path)} ${content.length}\n`).update(content);
  return hash.digest("hex");
}

/** Names of skills are names of folders (agentskills.io, Specification). */
const SKILL_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const MAX_NAME_LENGTH = 64;

export function isSkillName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && SKILL_NAME.test(name);
}

/** Whether a path of the service names a file below its folder, on every operating system. */
export function isSafePath(path: string): boolean {
  return path.split("/").every(isSafeSegment);
}

function isSafeSegment(name: string): boolean {
  // `..`, empty segments and names that Windows would shorten end with a dot or are empty.
  if (name === "" || /[. ]$/.test(name) || name.toLowerCase() === ".git") return false;
  return !/[\\:*?"<>|\p{Cc}]/u.test(name);
}
