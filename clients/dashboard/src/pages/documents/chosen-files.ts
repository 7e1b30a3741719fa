import { isDocumentFile } from "../../../../../domain/documents/archive-files.ts";
import { DOCUMENT_LIMITS } from "../../../../../domain/documents/document-limits.ts";
import { type DroppedFile, listDroppedFiles } from "../../ui/dropped-files.ts";
import { formatBytes } from "../../ui/quantities.ts";
import { type Choice, listArchive } from "./archived-files.ts";

export const READABLE = "Markdown, text, HTML, PDF, Office, OpenDocument, CSV or EPUB";

/** Returns why the service would not read a file; `null` if it may. */
function findObstacle({ path, file }: DroppedFile): string | null {
  if (!isDocumentFile(path)) return `The type .${path.split(".").at(-1)} is not read. Choose ${READABLE}.`;
  if (file.size > DOCUMENT_LIMITS.fileBytes)
    return `The file has ${formatBytes(file.size)}. At most ${formatBytes(DOCUMENT_LIMITS.fileBytes)} are read.`;
  if (path.length > DOCUMENT_LIMITS.fileNameLength)
    return `The name with its folders is longer than ${DOCUMENT_LIMITS.fileNameLength} characters.`;
  return null;
}

const isHidden = (path: string): boolean => path.split("/").some((part) => part.startsWith("."));

/** The files of a file picker, and those in zip archives. */
export function listChosen(list: FileList): Promise<Choice> {
  const files = Array.from(list, (file) => ({ path: file.webkitRelativePath || file.name, file }));
  const shown = files.filter(({ path }) => !isHidden(path));
  return openArchives(shown, files.length - shown.length);
}

/** The files that a user has dropped, with those in folders and zip archives. */
export async function listDropped(dropped: DataTransfer): Promise<Choice> {
  const { files, leftOut } = await listDroppedFiles(dropped, isHidden);
  return openArchives(files, leftOut);
}

async function openArchives(files: readonly DroppedFile[], hidden: number): Promise<Choice> {
  const choice: Choice = { files: [], hidden };
  for (const dropped of files)
    if (/\.zip$/i.test(dropped.path)) {
      const archive = await listArchive(dropped);
      choice.files.push(...archive.files);
      choice.hidden += archive.hidden;
    } else choice.files.push({ ...dropped, obstacle: findObstacle(dropped) });
  return choice;
}
