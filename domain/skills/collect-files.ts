import type { ArchivedFiles } from "../ports/archive-reader.ts";
import { ServiceError } from "../shared/errors.ts";
import { findPathViolation, foldPath } from "./file-path-rules.ts";
import { SKILL_DOCUMENT, SKILL_LIMITS } from "./skill-limits.ts";

/** The contents of files by their paths. */
export type SkillFiles = ReadonlyMap<string, Uint8Array>;

/** The longest path in an error message, in characters. */
const SHOWN_PATH = 100;

/**
 * Collects the files of a skill, and rejects a file that no skill may have. It rejects the first file beyond a limit, so
 * that a source which creates files while they are collected stops there.
 */
export class FileCollector implements ArchivedFiles {
  readonly #files = new Map<string, Uint8Array>();
  /** By folded path: `file` for each file, `folder` for each folder that contains one. */
  readonly #kinds = new Map<string, "file" | "folder">();
  #bytes = 0;

  /** The number of bytes that all further files together may have. */
  get remainingBytes(): number {
    return SKILL_LIMITS.totalBytes - this.#bytes;
  }

  /** @throws {ServiceError} `invalid` */
  checkFolder(path: string): void {
    const violated = findPathViolation(path);
    if (violated !== null) throw invalidFile(path, violated);
  }

  /**
   * Checks a path before its content is read.
   *
   * @throws {ServiceError} `invalid`
   */
  reserve(path: string): void {
    this.checkFolder(path);
    if (this.#files.size >= SKILL_LIMITS.files)
      throw new ServiceError("invalid", `files: a skill can have at most ${SKILL_LIMITS.files} files.`);
    const names = path.split("/");
    for (const [index] of names.slice(1).entries()) this.#occupy(path, names.slice(0, index + 1), "folder");
    this.#occupy(path, names, "file");
  }

  /** @throws {ServiceError} `invalid` */
  add(path: string, content: Uint8Array): void {
    if (content.length > this.remainingBytes) throw tooLarge();
    this.#bytes += content.length;
    this.#files.set(path, content);
  }

  /** Returns the files relative to the folder of the skill, sorted by path. */
  finish(name: string): SkillFiles {
    const files = [...removeFolder(this.#files, name)];
    return new Map(files.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  #occupy(path: string, names: string[], kind: "file" | "folder"): void {
    const key = foldPath(names.join("/"));
    const earlier = this.#kinds.get(key);
    if (earlier !== undefined && (kind === "file" || earlier === "file"))
      throw invalidFile(path, "is there twice, or differs from another path only in upper and lower case");
    this.#kinds.set(key, kind);
  }
}

function tooLarge(): ServiceError {
  const mebibytes = SKILL_LIMITS.totalBytes / 1024 / 1024;
  return new ServiceError(
    "invalid",
    `files: have more than ${mebibytes} MiB together. Remove files that the skill does not need.`,
  );
}

/** @param rule - in words that follow the path */
export function invalidFile(path: string, rule: string): ServiceError {
  const shown = path.length > SHOWN_PATH ? `${path.slice(0, SHOWN_PATH)}…` : path;
  return new ServiceError("invalid", `files: ${JSON.stringify(shown.toWellFormed())} ${rule}.`);
}

/** Removes the folder of the skill from the paths, if every file is in it. */
function removeFolder(files: SkillFiles, name: string): SkillFiles {
  const documents = [...files.keys()].filter((path) => foldPath(path).split("/").at(-1) === "skill.md");
  // Other agents read only the document at the top. Further ones are files as any other.
  if (files.has(SKILL_DOCUMENT) && !documents.some((path) => !path.includes("/") && path !== SKILL_DOCUMENT))
    return files;
  const [document, other] = documents;
  if (document === undefined) throw new ServiceError("invalid", `files: the skill has no ${SKILL_DOCUMENT}.`);
  if (other !== undefined)
    throw new ServiceError(
      "invalid",
      `files: a skill has one ${SKILL_DOCUMENT}, but there are ${documents.length}. Upload each skill on its own.`,
    );
  const [folder, file] = document.includes("/") ? document.split("/", 2) : [null, document];
  if (file !== SKILL_DOCUMENT || document.split("/").length > 2)
    throw invalidFile(document, `must be named ${SKILL_DOCUMENT}, at the top or in the folder of the skill`);
  if (folder === null) return files;
  if (folder !== name) throw invalidFile(document, `is in a folder that has not the name of the skill, "${name}"`);
  const outside = [...files.keys()].find((path) => !path.startsWith(`${name}/`));
  if (outside !== undefined) throw invalidFile(outside, `is not in the folder "${name}" of the skill`);
  return new Map([...files].map(([path, content]) => [path.slice(name.length + 1), content]));
}
