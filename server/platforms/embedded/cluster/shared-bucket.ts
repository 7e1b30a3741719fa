import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { readBody } from "../../../http/read-body.ts";
import {
  BucketClient,
  type BucketLimits,
  type BucketRequest,
  type BucketSettings,
  readError,
  type WriteCondition,
} from "./bucket-client.ts";
import { BucketError } from "./bucket-error.ts";
import { checkConditionalWrites, WRITE_ID_HEADER } from "./check-conditional-writes.ts";
import { isFolder, isPlainKey } from "./object-key.ts";
import { type ListedPage, parseListedPage } from "./s3-documents.ts";

const DEFAULT_LIMITS: BucketLimits = { idleTimeoutMs: 30_000, attempts: 4, backOffMs: 200 };
/** Larger objects are read as streams. */
const MAX_READ_BYTES = 256 * 1024 * 1024;
const MAX_LIST_BYTES = 16 * 1024 * 1024;
const DELETIONS_AT_ONCE = 16;

/**
 * The part of an S3 bucket below a prefix, which all processes of an installation share. All keys are below the prefix.
 * Requests are repeated after errors of the server or the connection.
 */
export class SharedBucket implements Disposable {
  readonly #settings: BucketSettings;
  readonly #limits: BucketLimits;
  readonly #client: BucketClient;

  constructor(settings: BucketSettings, limits: Partial<BucketLimits> = {}) {
    if (!isFolder(settings.prefix)) throw new Error("The prefix of the bucket must be empty, or a folder such as a/b/");
    this.#settings = settings;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#client = new BucketClient(settings, this.#limits);
  }

  /**
   * Reads an object into memory.
   *
   * @returns `null` when there is none
   * @throws {BucketError}
   */
  async read(key: string): Promise<{ bytes: Buffer; etag: string } | null> {
    return this.#retry(async () => {
      const response = await this.#get(key);
      if (response === null) return null;
      const bytes = await receive(`GET ${key}`, response, MAX_READ_BYTES);
      return { bytes, etag: response.headers.etag ?? "" };
    });
  }

  /**
   * Reads an object as a stream, which fails when the connection is lost.
   *
   * @returns `null` when there is none
   * @throws {BucketError}
   */
  async openRead(key: string): Promise<Readable | null> {
    return this.#retry(() => this.#get(key));
  }

  /**
   * Writes an object, if its condition holds. Safe to repeat: a repetition recognizes what an earlier one has written.
   *
   * @returns `null` when the condition does not hold
   * @throws {BucketError} when it is unknown whether the object was written
   */
  async write(
    key: string,
    bytes: Uint8Array,
    condition: WriteCondition | null = null,
  ): Promise<{ etag: string } | null> {
    const writeId = randomUUID();
    const headers = { ...conditionHeaders(condition), [WRITE_ID_HEADER]: writeId };
    let mayHaveWritten = false;
    return this.#retry(async () => {
      const request: BucketRequest = { method: "PUT", key, headers, body: bytes };
      try {
        const response = await this.#request(request);
        response.resume();
        return { etag: response.headers.etag ?? "" };
      } catch (error) {
        if (isTransient(error)) mayHaveWritten = true;
        if (condition === null || !isConditionError(error)) throw error;
        return mayHaveWritten ? this.#findWrite(key, writeId) : null;
      }
    });
  }

  /** Writes an object from a file, which must not change meanwhile. @throws {BucketError} */
  async writeFile(key: string, path: string): Promise<void> {
    const { size } = await stat(path);
    const hash = createHash("sha256");
    await pipeline(createReadStream(path), hash);
    const headers = { "content-length": String(size), "x-amz-content-sha256": hash.digest("hex") };
    await this.#retry(async () => {
      const body = createReadStream(path, { end: Math.max(0, size - 1) });
      try {
        (await this.#request({ method: "PUT", key, headers, body })).resume();
      } finally {
        body.destroy();
      }
    });
  }

  /** Removes an object. Succeeds when there is none. @throws {BucketError} */
  async remove(key: string): Promise<void> {
    await this.#retry(async () => {
      const response = await this.#request({ method: "DELETE", key }).catch(ignoreMissing);
      response?.resume();
    });
  }

  /** Lists the objects whose keys begin with `prefix`, sorted by key. @throws {BucketError} */
  async *list(prefix: string): AsyncGenerator<{ key: string; size: number }> {
    let token: string | null = null;
    do {
      const page: ListedPage = await this.listPage({ prefix, ...(token !== null && { "continuation-token": token }) });
      for (const { key, size } of page.objects) yield { key, size };
      token = page.nextToken;
    } while (token !== null);
  }

  /** Lists the names of the folders in a folder, without their slashes. @throws {BucketError} */
  async listFolders(folder: string): Promise<string[]> {
    const names: string[] = [];
    let token: string | null = null;
    do {
      const query = { prefix: folder, delimiter: "/", ...(token !== null && { "continuation-token": token }) };
      const page: ListedPage = await this.listPage(query);
      names.push(...page.folders.map((key) => key.slice(folder.length, -1)));
      token = page.nextToken;
    } while (token !== null);
    return names;
  }

  /**
   * Returns one page of ListObjectsV2.
   *
   * @param query - the parameters of S3, whose keys are below the prefix of this bucket, as those of the page are
   * @throws {BucketError}
   */
  async listPage(query: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<ListedPage> {
    const inBucket = Object.entries(query).map(([name, value]) =>
      name === "prefix" || name === "start-after" ? [name, this.#settings.prefix + value] : [name, value],
    );
    const request: BucketRequest = {
      method: "GET",
      query: { ...Object.fromEntries(inBucket), "list-type": "2" },
      signal,
    };
    return this.#retry(async () => {
      const response = await this.#request(request);
      const xml = await receive("a list of objects", response, MAX_LIST_BYTES);
      const page = parseListedPage(xml.toString());
      if (page === null) throw invalidResponse("a list of objects", "the response is not a list");
      return this.#withoutPrefix(page, query["prefix"] ?? "");
    });
  }

  /** Removes all objects whose keys begin with `prefix`. Nothing may be written there meanwhile. @throws {BucketError} */
  async removeAll(prefix: string): Promise<void> {
    for (;;) {
      const { objects } = await this.listPage({ prefix });
      if (objects.length === 0) return;
      for (let at = 0; at < objects.length; at += DELETIONS_AT_ONCE)
        await Promise.all(objects.slice(at, at + DELETIONS_AT_ONCE).map(({ key }) => this.remove(key)));
    }
  }

  /**
   * Sends one request for an object, once.
   *
   * @param request.key - below the prefix of this bucket
   * @returns the response, whatever its status is; the caller reads its body or destroys it
   * @throws {BucketError} when there is no response
   */
  async send(request: BucketRequest & { key: string }): Promise<IncomingMessage> {
    const key = this.#settings.prefix + request.key;
    if (!isPlainKey(key)) throw new Error(`Invalid object key: ${JSON.stringify(request.key.slice(0, 200))}`);
    return this.#client.send({ ...request, key });
  }

  /** Checks that the store applies the conditions of writes. @throws with a message for the operator */
  async checkConditionalWrites(): Promise<void> {
    await checkConditionalWrites(this);
  }

  /** Closes the connections. */
  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]();
  }

  async #get(key: string): Promise<IncomingMessage | null> {
    return this.#request({ method: "GET", key }).catch(ignoreMissing);
  }

  /** Returns the object at `key` if the write with this ID stored it. */
  async #findWrite(key: string, writeId: string): Promise<{ etag: string } | null> {
    const response = await this.#request({ method: "HEAD", key }).catch(ignoreMissing);
    response?.resume();
    const isOwn = response?.headers[WRITE_ID_HEADER] === writeId;
    return isOwn ? { etag: response.headers.etag ?? "" } : null;
  }

  /** Returns the response of a request that succeeds. */
  async #request(request: BucketRequest): Promise<IncomingMessage> {
    const { key } = request;
    const response = await (key === undefined ? this.#client.send(request) : this.send({ ...request, key }));
    if (isSuccess(response)) return response;
    throw await readError(request, response);
  }

  /** @throws {BucketError} when the server lists other keys than those that begin with `prefix` */
  #withoutPrefix({ objects, folders, nextToken }: ListedPage, prefix: string): ListedPage {
    const remove = (key: string) => {
      if (key.startsWith(this.#settings.prefix + prefix)) return key.slice(this.#settings.prefix.length);
      throw invalidResponse("a list of objects", "the response has other keys");
    };
    return {
      objects: objects.map((object) => ({ ...object, key: remove(object.key) })),
      folders: folders.map(remove),
      nextToken,
    };
  }

  async #retry<T>(operation: () => Promise<T>): Promise<T> {
    const { attempts, backOffMs } = this.#limits;
    for (let attempt = 1; ; attempt++) {
      try {
        return await operation();
      } catch (error) {
        if (attempt >= attempts || !(isTransient(error) || isConflict(error))) throw error;
        await sleep(backOffMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2));
      }
    }
  }
}

function conditionHeaders(condition: WriteCondition | null): Record<string, string> {
  if (condition === null) return {};
  return "ifMatch" in condition ? { "if-match": condition.ifMatch } : { "if-none-match": condition.ifNoneMatch };
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

function isTransient(error: unknown): boolean {
  return error instanceof BucketError && error.isTransient;
}

/** Another conditional write of the same object was in progress, so this one had no effect. */
function isConflict(error: unknown): boolean {
  return error instanceof BucketError && error.status === 409;
}

/** Whether a condition did not hold. S3 responds with 404 to `If-Match` when there is no object. */
function isConditionError(error: unknown): boolean {
  return error instanceof BucketError && (error.status === 412 || isMissing(error));
}

function isMissing({ status, code }: BucketError): boolean {
  return status === 404 && code !== "NoSuchBucket";
}

function ignoreMissing(error: unknown): null {
  if (error instanceof BucketError && isMissing(error)) return null;
  throw error;
}

async function receive(request: string, response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const bytes = await readBody(response, maxBytes).catch((error: unknown) => {
    throw new BucketError(request, { status: null, code: "", reason: (error as Error).message });
  });
  if (bytes === null) throw invalidResponse(request, `the response exceeds ${maxBytes} bytes`);
  return bytes;
}

function invalidResponse(request: string, reason: string): BucketError {
  return new BucketError(request, { status: 200, code: "", reason });
}
