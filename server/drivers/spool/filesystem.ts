import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import path from "node:path";
import type { Spool, SpoolFile } from "../../../domain/ports/spool.ts";

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

  async append(text: string): Promise<void> {
    await this.#handle.appendFile(text);
  }

  read(): AsyncIterable<Uint8Array> {
    return this.#handle.createReadStream({ start: 0, autoClose: false });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}
