import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import { BackupError } from "./backup-error.ts";

/** How many bytes of a file one chunk has, except the last one of the file. */
export const CHUNK_BYTES = 1024 * 1024;

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The first byte of what is stored, before its encryption. */
const RAW = 0;
const ZSTD = 1;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/**
 * Names chunks by their content, compresses and encrypts them. With a key, the names are an HMAC: they do not tell whether a
 * known file is in the backup.
 */
export class ChunkCodec {
  readonly #keys: { names: Buffer; content: Buffer } | null;

  /** @param key - the key of the operator, and the salt of the repository; `null` for a backup that is not encrypted */
  constructor(key: { secret: string; salt: Buffer } | null) {
    const derive = (purpose: string) =>
      key === null ? Buffer.alloc(0) : Buffer.from(hkdfSync("sha256", key.secret, key.salt, purpose, 32));
    this.#keys = key === null ? null : { names: derive("backup names"), content: derive("backup content") };
  }

  idOf(content: Uint8Array): string {
    const hash = this.#keys === null ? createHash("sha256") : createHmac("sha256", this.#keys.names);
    return hash.update(content).digest("hex");
  }

  async encode(id: string, content: Uint8Array): Promise<Uint8Array> {
    const compressed = await compress(content);
    const isSmaller = compressed.length < content.length;
    const body = Buffer.concat([Buffer.of(isSmaller ? ZSTD : RAW), isSmaller ? compressed : content]);
    if (this.#keys === null) return body;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#keys.content, nonce).setAAD(Buffer.from(id));
    return Buffer.concat([nonce, cipher.update(body), cipher.final(), cipher.getAuthTag()]);
  }

  /** @throws {BackupError} when the content is not the one that the id names */
  async decode(id: string, stored: Uint8Array): Promise<Uint8Array> {
    const content = await this.#open(id, stored).catch(() => null);
    if (content !== null && this.idOf(content) === id) return content;
    throw new BackupError(`The backup is damaged: chunk ${id} has other content. Restore an earlier backup.`);
  }

  async #open(id: string, stored: Uint8Array): Promise<Uint8Array> {
    const body = this.#keys === null ? stored : this.#decrypt(this.#keys.content, id, stored);
    const rest = body.subarray(1);
    return body[0] === ZSTD ? await decompress(rest, { maxOutputLength: CHUNK_BYTES }) : rest;
  }

  #decrypt(key: Buffer, id: string, stored: Uint8Array): Uint8Array {
    const decipher = createDecipheriv(ALGORITHM, key, stored.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(id))
      .setAuthTag(stored.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(stored.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  }
}
