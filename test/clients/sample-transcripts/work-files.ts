import { writeFile } from "node:fs/promises";
import path from "node:path";

/** Writes the files that the scripted model reads with the tools of a program. */
export async function writeWorkFiles(folder: string): Promise<void> {
  await writeFile(path.join(folder, "notes.txt"), "one\ntwo\nthree\n");
  await writeFile(path.join(folder, "dot.png"), Buffer.from(ONE_PIXEL, "base64"));
}

const ONE_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
