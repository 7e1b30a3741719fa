import { createHash, randomUUID } from "node:crypto";
import { appendFile, readFile, readdir, writeFile } from "node:fs/promises";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hash } from "./check-signature.ts";
import { S3Failure } from "./s3-responses.ts";

/** Uploads in parts, each in a folder of its own. */
export class MultipartUploads {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  create(key: string): string {
    const id = randomUUID();
    mkdirSync(this.#folderOf(key, id), { recursive: true });
    return id;
  }

  partPath(key: string, id: string, part: number): string {
    const folder = this.#folderOf(key, id);
    if (!existsSync(folder)) throw new S3Failure(404, "NoSuchUpload");
    return join(folder, String(part).padStart(5, "0"));
  }

  /** Writes all parts to one file. The ETag is that of S3 for such an object. */
  async join(key: string, id: string, path: string): Promise<{ etag: string; size: number }> {
    const folder = this.#folderOf(key, id);
    if (!existsSync(folder)) throw new S3Failure(404, "NoSuchUpload");
    const parts = (await readdir(folder)).toSorted();
    const digests = createHash("md5");
    let size = 0;
    await writeFile(path, "");
    for (const part of parts) {
      const bytes = await readFile(join(folder, part));
      digests.update(Buffer.from(hash("md5", bytes), "hex"));
      size += bytes.length;
      await appendFile(path, bytes);
    }
    return { etag: `"${digests.digest("hex")}-${parts.length}"`, size };
  }

  remove(id: string): void {
    rmSync(join(this.#folder, id.replaceAll(/[^0-9a-f-]/g, "")), { recursive: true, force: true });
  }

  #folderOf(key: string, id: string): string {
    return join(this.#folder, id.replaceAll(/[^0-9a-f-]/g, ""), hash("sha256", key));
  }
}
