import { randomBytes } from "node:crypto";
import PQueue from "p-queue";
import { z } from "zod";
import type { ObjectStore } from "../../domain/ports/object-store.ts";
import { parseJson } from "../../domain/shared/json.ts";
import { BackupError } from "./backup-error.ts";
import { CHUNK_BYTES, ChunkCodec } from "./chunk-codec.ts";

const FORMAT = { bucket: "repository", key: "format.json" } as const;
const CHUNKS = "chunks";
const BACKUPS = "backups";
const VERSION = 1;
/** Chunks that are written at the same time, each of 1 MiB at most. */
const CONCURRENCY = 8;
/** Its name is stored, so that another key is noticed before anything is read. */
const KEY_CHECK = Buffer.from("service backup");

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const formatSchema = z.object({
  version: z.int(),
  encryption: z.object({ salt: hex, check: hex }).nullable(),
});
const backupSchema = z.object({ manifest: hex });

/** A stored sequence of bytes. */
export interface StoredContent {
  size: number;
  chunks: string[];
}

/**
 * A place with backups. Everything is stored in chunks that are named by their content, so a backup adds only what no earlier one
 * has. The last object of a backup names its manifest: without it, an interrupted backup does not exist, and its chunks
 * are used by the next one.
 */
export class BackupRepository {
  readonly #store: ObjectStore;
  readonly #codec: ChunkCodec;
  readonly #known: Set<string>;
  readonly #writes = new PQueue({ concurrency: CONCURRENCY });
  #failure: { error: unknown } | null = null;
  /** The bytes and chunks that this process has added. */
  readonly added = { bytes: 0, chunks: 0 };

  private constructor(store: ObjectStore, codec: ChunkCodec, known: Set<string>) {
    this.#store = store;
    this.#codec = codec;
    this.#known = known;
  }

  /**
   * Opens a repository to add backups. An empty place becomes one.
   *
   * @param secret - the key of the operator; `null` to store without encryption
   * @throws {BackupError} for a place with other content, or another key
   */
  static async openForWriting(store: ObjectStore, secret: string | null): Promise<BackupRepository> {
    const codec = (await openCodec(store, secret)) ?? (await createCodec(store, secret));
    // An empty object is the remains of a power failure.
    const stored = (await store.list(CHUNKS)).filter(({ size }) => size > 0);
    return new BackupRepository(store, codec, new Set(stored.map(({ key }) => idOfKey(key))));
  }

  /** @throws {BackupError} when there is no repository, or it has another key */
  static async openForReading(store: ObjectStore, secret: string | null): Promise<BackupRepository> {
    const codec = await openCodec(store, secret);
    if (codec === null) throw new BackupError("There is no backup at this place.");
    return new BackupRepository(store, codec, new Set());
  }

  /** Stores a sequence of bytes. It is complete after `flush`. */
  async add(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<StoredContent> {
    const stored: StoredContent = { size: 0, chunks: [] };
    for await (const chunk of inChunks(content)) {
      stored.size += chunk.length;
      stored.chunks.push(await this.#addChunk(chunk));
    }
    return stored;
  }

  /** Waits until all that was added is stored. */
  async flush(): Promise<void> {
    await this.#writes.onIdle();
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** @throws {BackupError} when a chunk is missing or damaged */
  async *read({ chunks }: StoredContent): AsyncGenerator<Uint8Array> {
    for (const id of chunks) yield await this.#readChunk(id);
  }

  /** Lists the ids of all complete backups, the oldest first. */
  async listBackups(): Promise<string[]> {
    return (await this.#store.list(BACKUPS)).filter(({ size }) => size > 0).map(({ key }) => key);
  }

  /** Completes a backup. `flush` must have succeeded. */
  async putManifest(id: string, manifest: object): Promise<void> {
    const { chunks, size } = await this.add([Buffer.from(JSON.stringify(manifest))]);
    if (size > CHUNK_BYTES) throw new Error("The manifest of a backup must fit in one chunk");
    await this.flush();
    await this.#store.put(BACKUPS, id, Buffer.from(JSON.stringify({ manifest: chunks[0] })));
  }

  /** @throws {BackupError} for an unknown or damaged backup */
  async readManifest(id: string): Promise<unknown> {
    return parse(await this.#readChunk(await this.manifestChunk(id)));
  }

  /** Removes a backup. Its chunks remain until `removeUnusedChunks`. */
  async removeBackup(id: string): Promise<void> {
    await this.#store.remove(BACKUPS, id);
  }

  /** Returns the chunk with the manifest of a backup. */
  async manifestChunk(id: string): Promise<string> {
    const bytes = await this.#store.get(BACKUPS, id);
    if (bytes === null) throw new BackupError(`There is no backup ${id} at this place.`);
    const parsed = backupSchema.safeParse(parse(bytes));
    if (parsed.success) return parsed.data.manifest;
    throw new BackupError(`The backup ${id} is damaged.`);
  }

  /** Removes all chunks but those in `used`. No other process may be adding a backup. */
  async removeUnusedChunks(used: ReadonlySet<string>): Promise<number> {
    const unused = (await this.#store.list(CHUNKS)).filter(({ key }) => !used.has(idOfKey(key)));
    const remaining = unused.values();
    const removeNext = async (): Promise<void> => {
      for (const { key } of remaining) await this.#store.remove(CHUNKS, key);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, removeNext));
    return unused.reduce((sum, { size }) => sum + size, 0);
  }

  async #addChunk(content: Uint8Array): Promise<string> {
    const id = this.#codec.idOf(content);
    if (this.#failure !== null) throw this.#failure.error;
    if (this.#known.has(id)) return id;
    this.#known.add(id);
    await this.#writes.onSizeLessThan(CONCURRENCY);
    void this.#writes.add(() => this.#write(id, content));
    return id;
  }

  async #write(id: string, content: Uint8Array): Promise<void> {
    try {
      const encoded = await this.#codec.encode(id, content);
      await this.#store.put(CHUNKS, chunkKey(id), encoded);
      this.added.bytes += encoded.length;
      this.added.chunks++;
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  async #readChunk(id: string): Promise<Uint8Array> {
    const stored = await this.#store.get(CHUNKS, chunkKey(id));
    if (stored === null)
      throw new BackupError(`The backup is damaged: chunk ${id} is missing. Restore an earlier backup.`);
    return await this.#codec.decode(id, stored);
  }
}

/** Folders with millions of files are slow. */
function chunkKey(id: string): string {
  return `${id.slice(0, 2)}/${id}`;
}

function idOfKey(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

/** Returns `null` for a place without a repository. */
async function openCodec(store: ObjectStore, secret: string | null): Promise<ChunkCodec | null> {
  const bytes = await store.get(FORMAT.bucket, FORMAT.key);
  if (bytes === null) return null;
  const parsed = formatSchema.safeParse(parse(bytes));
  if (!parsed.success) throw new BackupError("The description of the backups at this place is damaged.");
  const { version, encryption } = parsed.data;
  if (version !== VERSION) throw new BackupError(`A newer version of the service has made the backups at this place.`);
  if (encryption === null) {
    if (secret === null) return new ChunkCodec(null);
    throw new BackupError("The backups at this place are not encrypted. Unset BACKUP_KEY_FILE, or name another place.");
  }
  if (secret === null)
    throw new BackupError("The backups at this place are encrypted. Set BACKUP_KEY_FILE to the file with their key.");
  const codec = new ChunkCodec({ secret, salt: Buffer.from(encryption.salt, "hex") });
  if (codec.idOf(KEY_CHECK) === encryption.check) return codec;
  throw new BackupError("The key in BACKUP_KEY_FILE is not the one of the backups at this place.");
}

async function createCodec(store: ObjectStore, secret: string | null): Promise<ChunkCodec> {
  if ((await store.listBuckets()).length > 0)
    throw new BackupError("The place has other content. Name an empty or absent folder for the first backup.");
  const salt = randomBytes(32);
  const codec = new ChunkCodec(secret === null ? null : { secret, salt });
  const encryption = secret === null ? null : { salt: salt.toString("hex"), check: codec.idOf(KEY_CHECK) };
  await store.put(FORMAT.bucket, FORMAT.key, Buffer.from(JSON.stringify({ version: VERSION, encryption })));
  return codec;
}

function parse(bytes: Uint8Array): unknown {
  return parseJson(Buffer.from(bytes).toString("utf8"));
}

/** Divides a stream of bytes into chunks of the same size, except the last one. */
async function* inChunks(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of content) {
    let rest = bytes;
    while (length + rest.length >= CHUNK_BYTES) {
      const missing = CHUNK_BYTES - length;
      yield Buffer.concat([...parts, rest.subarray(0, missing)]);
      rest = rest.subarray(missing);
      parts = [];
      length = 0;
    }
    if (rest.length === 0) continue;
    // A copy, because a reader may use its buffer again.
    parts.push(Buffer.from(rest));
    length += rest.length;
  }
  if (length > 0) yield Buffer.concat(parts);
}
