import { SKILL_DOCUMENT, SKILL_LIMITS } from "../../../../../domain/skills/skill-limits.ts";
import { readFile } from "../../ui/read-file.ts";

/** The body of an upload, and the name of the skill. */
export interface SkillRequest {
  name: string;
  files?: { path: string; content: string; encoding: "base64" }[];
  archive?: string;
}

/** The files cannot be a skill. The message is for the user. */
export class SkillFilesError extends Error {
  override readonly name = "SkillFilesError";
}

const MEBIBYTE = 1024 * 1024;
/** Files that systems and git add to a folder. */
const IGNORED = /(^|\/)(\.git\/|\.DS_Store$|Thumbs\.db$|__MACOSX\/)/;

/**
 * Reads the skill in a folder or in a zip file.
 *
 * @throws {SkillFilesError}
 */
export async function readSkill(files: readonly File[]): Promise<SkillRequest> {
  const [first] = files;
  if (first === undefined) throw new SkillFilesError("Choose the folder or the zip file of a skill.");
  if (files.length === 1 && /\.zip$/i.test(first.name)) return readArchive(first);
  const found = files.map((file) => ({ file, path: pathOf(file) })).filter(({ path }) => !IGNORED.test(path));
  const document = found.find(({ path }) => path.split("/").length <= 2 && path.endsWith(SKILL_DOCUMENT));
  if (document === undefined)
    throw new SkillFilesError(`The folder has no ${SKILL_DOCUMENT}. Choose the folder that contains it.`);
  checkSize(found.map(({ file }) => file));
  const name = readName(await document.file.text());
  const folder = document.path.slice(0, -SKILL_DOCUMENT.length);
  const isOutside = found.find(({ path }) => !path.startsWith(folder));
  if (isOutside !== undefined)
    throw new SkillFilesError(`${isOutside.path} is not in the folder of the ${SKILL_DOCUMENT}.`);
  return {
    name,
    files: await Promise.all(
      found.map(async ({ file, path }) => {
        const { content } = await readFile(file);
        return { path: path.slice(folder.length), content, encoding: "base64" as const };
      }),
    ),
  };
}

/** The path of a file, with the folder that was chosen or dropped. */
function pathOf(file: File): string {
  return file.webkitRelativePath === "" ? file.name : file.webkitRelativePath;
}

function checkSize(files: readonly File[]): void {
  if (files.length > SKILL_LIMITS.files)
    throw new SkillFilesError(`The folder has ${files.length} files. A skill can have at most ${SKILL_LIMITS.files}.`);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > SKILL_LIMITS.totalBytes)
    throw new SkillFilesError(
      `The files have ${(bytes / MEBIBYTE).toFixed(1)} MiB. A skill can have at most ${SKILL_LIMITS.totalBytes / MEBIBYTE}.`,
    );
}

/** The service reads the archive. Only the name of the skill is read here. */
async function readArchive(file: File): Promise<SkillRequest> {
  checkSize([file]);
  const { strFromU8, unzipSync } = await import("fflate");
  const bytes = new Uint8Array(await file.arrayBuffer());
  let documents: Record<string, Uint8Array>;
  try {
    documents = unzipSync(bytes, {
      filter: ({ name, originalSize }) =>
        !IGNORED.test(name) && /^([^/]+\/)?SKILL\.md$/.test(name) && originalSize <= SKILL_LIMITS.documentBytes,
    });
  } catch {
    throw new SkillFilesError(`${file.name} is not a zip file that can be read.`);
  }
  const [document] = Object.values(documents);
  if (document === undefined)
    throw new SkillFilesError(`${file.name} has no ${SKILL_DOCUMENT} at its top, nor in a folder at its top.`);
  const name = readName(strFromU8(document));
  const { content } = await readFile(file);
  return { name, archive: content };
}

/** Reads the name in the frontmatter. The service checks it. */
function readName(document: string): string {
  const frontmatter = /^---\r?\n([\s\S]*?)\r?\n---/.exec(document)?.[1] ?? "";
  const name = /^name:\s*["']?([^"'\r\n]+?)["']?\s*$/m.exec(frontmatter)?.[1];
  if (name === undefined)
    throw new SkillFilesError(
      `The ${SKILL_DOCUMENT} has no name. It must start with ---, name: my-skill, description: …, ---.`,
    );
  return name;
}
