import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/**
 * Opens a file that untrusted code may have created, for reading. A link at the end of the path is not followed, and a
 * named pipe cannot block us.
 *
 * @returns `null` if there is no such regular file
 */
export async function openUntrusted(file: string): Promise<FileHandle | null> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"].includes(error.code ?? "")) return null;
      throw error;
    },
  );
  if (handle === null || (await handle.stat()).isFile()) return handle;
  await handle.close();
  return null;
}

/**
 * Reads a text file that untrusted code may have created. Returns `null` like `openUntrusted`.
 *
 * @throws {RangeError} when the file is larger than `limitBytes`
 */
export async function readUntrusted(
  file: string,
  limitBytes: number,
  encoding: "utf8" | "latin1" = "utf8",
): Promise<string | null> {
  const handle = await openUntrusted(file);
  if (handle === null) return null;
  await using _ = handle;
  if ((await handle.stat()).size > limitBytes) throw new RangeError(`The file is larger than ${limitBytes} bytes`);
  return await handle.readFile(encoding);
}
