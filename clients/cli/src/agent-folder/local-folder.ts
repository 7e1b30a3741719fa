import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CliError } from "../cli-error.ts";
import { explainWriteError, replaceFile } from "../replace-file.ts";
import { type FileSet, isSafePath, isSkillName } from "./file-set.ts";

/** The instructions of an agent, in the folder and as the name of their part. */
export const INSTRUCTIONS = "AGENTS.md";
const SKILLS = "skills";
const SKILL_DOCUMENT = "SKILL.md";
/** Hidden, so that no program takes it for a skill. */
const UNFINISHED = /^\.svc-[0-9a-f-]{36}$/;

export function partOfSkill(name: string): string {
  return `${SKILLS}/${name}`;
}

/** @returns `null` for the instructions */
export function skillOfPart(part: string): string | null {
  return part.startsWith(`${SKILLS}/`) ? part.slice(SKILLS.length + 1) : null;
}

/** The AGENTS.md and the skills in a folder. Nothing outside the folder is read or written, also over symbolic links. */
export class LocalFolder {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Reads the AGENTS.md and each skill, which are the parts. @throws {CliError} for a symbolic link in their places */
  async read(): Promise<Map<string, FileSet>> {
    const parts = new Map<string, FileSet>();
    const instructions = await this.#readInstructions();
    if (instructions !== null) parts.set(INSTRUCTIONS, new Map([[INSTRUCTIONS, instructions]]));
    for (const name of await this.#listSkills()) {
      const files = await this.#readSkill(name);
      if (files.has(SKILL_DOCUMENT)) parts.set(partOfSkill(name), files);
    }
    return parts;
  }

  /**
   * Replaces a part at once, or removes it. A crash leaves the part before, the new one, or a hidden copy of the part before.
   *
   * @param files - `null` to remove the part
   * @throws {CliError} for a path of the service that could be outside the folder, and when the folder cannot be written
   */
  async write(part: string, files: FileSet | null): Promise<void> {
    checkPaths(part, files);
    const skill = skillOfPart(part);
    try {
      if (skill === null) await this.#writeInstructions(files?.get(INSTRUCTIONS) ?? null);
      else await this.#replaceSkill(skill, files);
    } catch (error) {
      if (error instanceof CliError) throw error;
      throw explainWriteError(path.join(this.root, part), error as NodeJS.ErrnoException);
    }
  }

  async #readInstructions(): Promise<Buffer | null> {
    const file = path.join(this.root, INSTRUCTIONS);
    await this.#refuseLink(file);
    return readFile(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
      throw new CliError(`Cannot read ${file}: ${error.code ?? error.message}.`, 1, { cause: error });
    });
  }

  async #writeInstructions(content: Buffer | null): Promise<void> {
    const file = path.join(this.root, INSTRUCTIONS);
    await this.#refuseLink(file);
    if (content === null) await rm(file, { force: true });
    else await replaceFile(file, content);
  }

  async #listSkills(): Promise<string[]> {
    const folder = path.join(this.root, SKILLS);
    await this.#refuseLink(folder);
    const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
      ignoreMissing(error as NodeJS.ErrnoException);
      return [];
    });
    const skills = entries.filter(({ name }) => !name.startsWith("."));
    const link = skills.find((entry) => entry.isSymbolicLink());
    if (link !== undefined) throw isLink(path.join(folder, link.name));
    return skills.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  async #readSkill(name: string): Promise<FileSet> {
    const files = new Map<string, Buffer>();
    await this.#readFiles(path.join(this.root, SKILLS, name), "", files);
    return files;
  }

  /** Everything in the folder of a skill belongs to it, because a pull replaces the folder. */
  async #readFiles(folder: string, prefix: string, files: Map<string, Buffer>): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const [file, name] = [path.join(folder, entry.name), prefix + entry.name];
      if (!isSafePath(name) || !(entry.isDirectory() || entry.isFile()))
        throw new CliError(`${file} cannot be a part of a skill. Remove it, or rename it.`);
      if (entry.isDirectory()) await this.#readFiles(file, `${name}/`, files);
      else files.set(name, await readFile(file));
    }
  }

  async #replaceSkill(name: string, files: FileSet | null): Promise<void> {
    const skills = path.join(this.root, SKILLS);
    const folder = path.join(skills, name);
    for (const each of [skills, folder]) await this.#refuseLink(each);
    await mkdir(skills, { recursive: true });
    await this.#removeUnfinished(skills);
    const [created, replaced] = [path.join(skills, `.svc-${randomUUID()}`), path.join(skills, `.svc-${randomUUID()}`)];
    try {
      if (files !== null) await mkdir(created);
      for (const [file, content] of files ?? []) {
        await mkdir(path.dirname(path.join(created, file)), { recursive: true });
        // A script stays executable.
        const { mode } = await lstat(path.join(folder, file)).catch(() => ({ mode: 0o644 }));
        await writeFile(path.join(created, file), content, { flag: "wx", mode: mode & 0o777 });
      }
      await rename(folder, replaced).catch(ignoreMissing);
      if (files !== null)
        await rename(created, folder).catch(async (error: unknown) => {
          await rename(replaced, folder).catch(ignoreMissing);
          throw error;
        });
      await rm(replaced, { recursive: true, force: true });
    } finally {
      await rm(created, { recursive: true, force: true });
    }
  }

  /** Removes what a crash has left. */
  async #removeUnfinished(folder: string): Promise<void> {
    for (const name of await readdir(folder))
      if (UNFINISHED.test(name)) await rm(path.join(folder, name), { recursive: true, force: true });
  }

  async #refuseLink(file: string): Promise<void> {
    const stats = await lstat(file).catch(() => null);
    if (stats === null || !stats.isSymbolicLink()) return;
    // AGENTS.md may be a link to another file of the folder, such as CLAUDE.md.
    const [target, root] = await Promise.all([realpath(file).catch(() => null), realpath(this.root)]);
    if (target === null || path.basename(file) !== INSTRUCTIONS || !target.startsWith(root + path.sep))
      throw isLink(file);
  }
}

/** @throws {CliError} for a path of the service that could be outside the folder of the part */
export function checkPaths(part: string, files: FileSet | null): void {
  const skill = skillOfPart(part);
  if (skill !== null && !isSkillName(skill)) throw unsafe(skill);
  for (const name of files?.keys() ?? []) if (!isSafePath(name)) throw unsafe(name);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}

function isLink(file: string): CliError {
  return new CliError(
    `${file} is a symbolic link, which may lead out of the folder. Replace it with a file or folder.`,
  );
}

function unsafe(name: string): CliError {
  return new CliError(
    `The service has a file with the path ${JSON.stringify(name)}, which is not allowed. Nothing was written.`,
  );
}
