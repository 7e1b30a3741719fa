import mammoth from "mammoth";
import { RefusedFile } from "./report.ts";

/** Word writes the title of a document in this style. */
const STYLES = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"];

/**
 * Converts a DOCX file to HTML without its images. It reads only files that are in the archive, and no external entity.
 *
 * @throws {RefusedFile} for an archive that is not a DOCX file
 */
export async function convertDocx(content: Uint8Array): Promise<string> {
  const buffer = Buffer.from(content);
  // The names of files are not compressed in an archive.
  if (!buffer.includes("word/")) throw new RefusedFile("not-docx");
  const options = {
    styleMap: STYLES,
    convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: "" })),
    externalFileAccess: false,
  };
  const { value } = await mammoth.convertToHtml({ buffer }, options);
  return value;
}
