import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import path from "node:path";
import type { Spool, SpoolFile } from "../../../domain/ports/spool.ts";

const CHUNK_BYTES = 64 * 1024;

/** Files in a folder. They have no names, so that the system removes them when they are closed, also by a crash. */
export class FilesystemSpool implements Spool {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async open(): Promise<SpoolFile> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = path.join(this.#folder, randomUUID());
    const handle = await open(file, "wx+", 0o600);
    await unlink(file);
    return new UnnamedFile(handle);
  }
}

class UnnamedFile implements SpoolFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async append(content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    const { bytesWritten } = await this.#handle.write(bytes);
    if (bytesWritten !== bytes.length) throw new Error("a temporary file was not written completely");
  }

  async *read(): AsyncGenerator<Uint8Array> {
    for (let position = 0; ;) {
      // Each chunk has its own memory: streams request the next one while they still use the last.
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      const { bytesRead } = await this.#handle.read(chunk, 0, CHUNK_BYTES, position);
      if (bytesRead === 0) return;
      yield chunk.subarray(0, bytesRead);
      position += bytesRead;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}
