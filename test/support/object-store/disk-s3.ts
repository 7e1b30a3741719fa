import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, rmSync } from "node:fs";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { readBody } from "../../../server/http/read-body.ts";
import { hasValidSignature } from "./check-signature.ts";
import { type DiskObject, DiskObjects } from "./disk-objects.ts";
import { MultipartUploads } from "./multipart-uploads.ts";
import { escapeXml, errorXml, listXml, S3Failure } from "./s3-responses.ts";
import type { S3Server } from "./s3-servers.ts";

/** What happens to a request in place of a normal response. */
export interface Fault {
  /** `PUT`, `GET`, ... */
  method: string;
  /** Of the object; by default any. */
  key?: string;
  /** A response without an effect, or what happens after the effect. */
  outcome: keyof typeof STATUSES | "close-before-effect" | "close-after-effect" | "hang-after-effect";
}

export interface DiskS3 extends S3Server {
  /** Applies to the next request that fits. */
  inject: (fault: Fault) => void;
  /** All requests, such as `PUT a/b`. */
  requests: string[];
  /** Resolves when the next request that fits arrives, before it has an effect. */
  untilRequest: (pattern: RegExp) => Promise<void>;
  /** How many requests have no response yet. */
  openRequests: () => number;
}

const BUCKET = "objects";
const CREDENTIALS = { accessKeyId: "DISKKEY", secretAccessKey: "disk-secret" };
const STATUSES = { InternalError: 500, SlowDown: 503, ConditionalRequestConflict: 409 };
const MAX_XML_BYTES = 4 * 1024 * 1024;

/**
 * Starts an S3 server with one bucket, whose objects are files. It verifies signatures and hashes, applies conditions atomically,
 * and fails on demand. It knows the operations that this project uses, and refuses all others.
 */
export async function startDiskS3(folder: string): Promise<DiskS3> {
  const state = new DiskServer(folder);
  const server = createServer((request, response) => void state.respond(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    settings: { endpoint, bucket: BUCKET, region: "us-east-1", ...CREDENTIALS, prefix: "" },
    inject: (fault) => state.faults.push(fault),
    requests: state.requests,
    untilRequest: (pattern) => new Promise((resolve) => state.awaited.push({ pattern, resolve })),
    openRequests: () => state.openRequests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Request {
  incoming: IncomingMessage;
  response: ServerResponse;
  key: string;
  query: URLSearchParams;
}

class DiskServer {
  readonly faults: Fault[] = [];
  readonly requests: string[] = [];
  awaited: { pattern: RegExp; resolve: () => void }[] = [];
  openRequests = 0;
  readonly #objects: DiskObjects;
  readonly #uploads: MultipartUploads;

  constructor(folder: string) {
    this.#objects = new DiskObjects(join(folder, "objects"));
    this.#uploads = new MultipartUploads(join(folder, "uploads"));
  }

  async respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.openRequests++;
    response.once("close", () => this.openRequests--);
    try {
      const { method = "", url = "" } = incoming;
      const { pathname, searchParams: query } = new URL(url, "http://127.0.0.1");
      const [, bucket, ...segments] = pathname.split("/");
      const key = decodeURIComponent(segments.join("/"));
      this.#record(`${method} ${key}`);
      if (!hasValidSignature(incoming, CREDENTIALS.secretAccessKey, CREDENTIALS.accessKeyId))
        throw new S3Failure(403, "SignatureDoesNotMatch");
      if (bucket !== BUCKET) throw new S3Failure(404, "NoSuchBucket");
      const fault = this.#takeFault(method, key);
      if (fault !== null && fault in STATUSES) {
        incoming.resume();
        throw new S3Failure(STATUSES[fault as keyof typeof STATUSES], fault);
      }
      if (fault === "close-before-effect") return void incoming.socket.destroy();
      const finish = await this.#operate({ incoming, response, key, query });
      if (fault === "hang-after-effect") return;
      if (fault === "close-after-effect") return void incoming.socket.destroy();
      await finish();
    } catch (error) {
      sendError(incoming, response, error);
    }
  }

  #record(request: string): void {
    this.requests.push(request);
    const { arrived = [], awaited = [] } = Object.groupBy(this.awaited, ({ pattern }) =>
      pattern.test(request) ? "arrived" : "awaited",
    );
    this.awaited = awaited;
    for (const { resolve } of arrived) resolve();
  }

  #takeFault(method: string, key: string): Fault["outcome"] | null {
    const at = this.faults.findIndex((fault) => fault.method === method && (fault.key ?? key) === key);
    return at === -1 ? null : this.faults.splice(at, 1)[0]!.outcome;
  }

  /** Does what a request asks for, and returns the function that sends the response. */
  async #operate(request: Request): Promise<() => void | Promise<void>> {
    const { method = "" } = request.incoming;
    const { key, query, response } = request;
    const parameters = [...query.keys()].filter((name) => name !== "x-id").toSorted();
    const operation = `${method} ${key === "" ? "bucket" : "object"} ${parameters.join(",")}`.trim();
    switch (operation) {
      case "GET object":
      case "HEAD object":
        return this.#read(request);
      case "PUT object":
        return this.#put(request);
      case "DELETE object":
        this.#objects.remove(key);
        return () => void response.writeHead(204).end();
      case "POST bucket delete":
        return this.#removeListed(request);
      case "POST object uploads": {
        const id = this.#uploads.create(key);
        return () =>
          sendXml(
            response,
            `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
          );
      }
      case "PUT object partNumber,uploadId":
        return this.#putPart(request);
      case "POST object uploadId":
        return this.#completeUpload(request);
      case "DELETE object uploadId":
        this.#uploads.remove(query.get("uploadId") ?? "");
        return () => void response.writeHead(204).end();
      default:
        if (method === "GET" && key === "" && query.get("list-type") === "2") return this.#list(request);
        throw new S3Failure(501, "NotImplemented");
    }
  }

  #read({ incoming, response, key }: Request): () => Promise<void> {
    const object = this.#objects.get(key);
    if (object === null) throw new S3Failure(404, "NoSuchKey");
    const { "if-match": ifMatch, "if-none-match": ifNoneMatch, range } = incoming.headers;
    if (ifMatch !== undefined && ifMatch !== object.etag) throw new S3Failure(412, "PreconditionFailed");
    if (ifNoneMatch === object.etag) throw new S3Failure(304, "NotModified");
    const { start, end } = readRange(range, object.size);
    const headers = {
      ...object.headers,
      etag: object.etag,
      "last-modified": new Date(object.modifiedAt).toUTCString(),
      "content-length": end - start + 1,
      ...(range !== undefined && { "content-range": `bytes ${start}-${end}/${object.size}` }),
    };
    const isEmpty = incoming.method === "HEAD" || end < start;
    const fd = isEmpty ? null : this.#objects.open(object);
    return async () => {
      response.writeHead(range === undefined ? 200 : 206, headers);
      if (fd === null) response.end();
      else await pipeline(createReadStream("", { fd, start, end }), response);
    };
  }

  async #put({ incoming, response, key }: Request): Promise<() => void> {
    const path = this.#objects.stage();
    const { md5, size } = await receiveFile(incoming, path);
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).filter(([name]) => name === "content-type" || name.startsWith("x-amz-meta-")),
    ) as Record<string, string>;
    const object = { key, etag: `"${md5}"`, size, modifiedAt: new Date().toISOString(), headers, file: basename(path) };
    try {
      this.#checkCondition(incoming, this.#objects.get(key));
    } catch (error) {
      rmSync(path);
      throw error;
    }
    this.#objects.put(object);
    return () => void response.writeHead(200, { etag: object.etag }).end();
  }

  #checkCondition({ headers }: IncomingMessage, object: DiskObject | null): void {
    const { "if-match": ifMatch, "if-none-match": ifNoneMatch } = headers;
    if (ifNoneMatch !== undefined && ifNoneMatch !== "*") throw new S3Failure(501, "NotImplemented");
    if (ifNoneMatch === "*" && object !== null) throw new S3Failure(412, "PreconditionFailed");
    if (ifMatch !== undefined && object === null) throw new S3Failure(404, "NoSuchKey");
    if (ifMatch !== undefined && ifMatch !== object?.etag) throw new S3Failure(412, "PreconditionFailed");
  }

  async #removeListed({ incoming, response }: Request): Promise<() => void> {
    const xml = (await readBody(incoming, MAX_XML_BYTES))?.toString() ?? "";
    for (const [, key = ""] of xml.matchAll(/<Key>([^<]*)<\/Key>/g)) this.#objects.remove(unescapeXml(key));
    return () => sendXml(response, "<DeleteResult></DeleteResult>");
  }

  async #putPart({ incoming, response, key, query }: Request): Promise<() => void> {
    const path = this.#uploads.partPath(key, query.get("uploadId") ?? "", Number(query.get("partNumber")));
    const { md5 } = await receiveFile(incoming, path);
    return () => void response.writeHead(200, { etag: `"${md5}"` }).end();
  }

  async #completeUpload({ incoming, response, key, query }: Request): Promise<() => void> {
    await readBody(incoming, MAX_XML_BYTES);
    const id = query.get("uploadId") ?? "";
    const path = this.#objects.stage();
    const { etag, size } = await this.#uploads.join(key, id, path);
    this.#checkCondition(incoming, this.#objects.get(key));
    this.#objects.put({ key, etag, size, modifiedAt: new Date().toISOString(), headers: {}, file: basename(path) });
    this.#uploads.remove(id);
    return () =>
      sendXml(
        response,
        `<CompleteMultipartUploadResult><Key>${escapeXml(key)}</Key><ETag>${escapeXml(etag)}</ETag></CompleteMultipartUploadResult>`,
      );
  }

  #list({ response, query }: Request): () => void {
    const prefix = query.get("prefix") ?? "";
    const xml = listXml(BUCKET, this.#objects.list(prefix), query);
    return () => sendXml(response, xml);
  }
}

/** Stores a body, and checks the hashes that the client sent. */
async function receiveFile(incoming: IncomingMessage, path: string): Promise<{ md5: string; size: number }> {
  const { "content-length": length, "content-md5": md5Header } = incoming.headers;
  const sha256Header = String(incoming.headers["x-amz-content-sha256"]);
  if (length === undefined) throw new S3Failure(411, "MissingContentLength");
  const [md5, sha256] = [createHash("md5"), createHash("sha256")];
  let size = 0;
  try {
    await pipeline(
      incoming,
      async function* (body: AsyncIterable<Buffer>) {
        for await (const chunk of body) {
          md5.update(chunk);
          sha256.update(chunk);
          size += chunk.length;
          yield chunk;
        }
      },
      createWriteStream(path),
    );
    const digest = md5.digest();
    if (md5Header !== undefined && digest.toString("base64") !== md5Header) throw new S3Failure(400, "BadDigest");
    if (sha256Header !== "UNSIGNED-PAYLOAD" && sha256.digest("hex") !== sha256Header)
      throw new S3Failure(400, "XAmzContentSHA256Mismatch");
    return { md5: digest.toString("hex"), size };
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

function readRange(range: string | undefined, size: number): { start: number; end: number } {
  if (range === undefined) return { start: 0, end: size - 1 };
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if ((first === "" && last === "") || start > end) throw new S3Failure(416, "InvalidRange");
  return { start, end };
}

function unescapeXml(text: string): string {
  const characters: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => characters[name] ?? "");
}

function sendXml(response: ServerResponse, xml: string): void {
  response.writeHead(200, { "content-type": "application/xml" }).end(xml);
}

function sendError(incoming: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status, code } = error instanceof S3Failure ? error : new S3Failure(500, "InternalError");
  incoming.resume();
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(incoming.method === "HEAD" || status === 304 ? undefined : errorXml(code));
}
