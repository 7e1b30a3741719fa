import type { IncomingHttpHeaders } from "node:http";
import { encodeKey, isFolder, isPlainKey } from "./object-key.ts";
import { accessDenied, notImplemented, S3Refusal } from "./s3-refusal.ts";

/** The path and the query of a request, decoded. */
export interface RequestTarget {
  /** As it was sent. */
  path: string;
  /** `null` in a request for the bucket. */
  key: string | null;
  query: Record<string, string>;
}

export type ForwardedRequest =
  | { kind: "object"; method: "GET" | "HEAD" | "PUT" | "DELETE"; key: string; headers: Record<string, string> }
  | { kind: "list"; query: Record<string, string> };

/**
 * The largest body of a PUT, which is what S3 accepts in one request. workerd writes a snapshot of a Durable Object as one object, so
 * it is as large as its database.
 */
const MAX_BODY_BYTES = 5 * 1024 ** 3;
const METHODS = ["GET", "HEAD", "PUT", "DELETE"] as const;
const LIST_PARAMETERS = ["list-type", "prefix", "delimiter", "max-keys", "continuation-token", "start-after"];

/** The headers of each method that are passed on. */
const HEADERS: Record<(typeof METHODS)[number], readonly string[]> = {
  GET: ["if-match", "if-none-match", "range"],
  HEAD: ["if-match", "if-none-match", "range"],
  PUT: ["if-match", "if-none-match", "content-length", "content-type", "content-md5", "x-amz-content-sha256"],
  DELETE: ["if-match"],
};
/** Headers that are not passed on, and change nothing. */
const SIGNATURE_HEADERS = ["x-amz-date", "x-amz-content-sha256"];
/** Headers that would change what a request does. */
const UNSUPPORTED_HEADERS = [
  "if-modified-since",
  "if-unmodified-since",
  "if-range",
  "content-encoding",
  "transfer-encoding",
  "upgrade",
];

/**
 * Reads the path and the query of a request in path style. A key has one encoding only, that of signature version 4, so that
 * the key which is checked is the key that every server reads.
 *
 * @throws {S3Refusal}
 */
export function readTarget(url: string, bucketName: string): RequestTarget {
  const [path = "", search = "", ...rest] = url.split("?");
  if (rest.length > 0) throw invalidUri();
  const query = readQuery(search);
  if (path === `/${bucketName}` || path === `/${bucketName}/`) return { path, key: null, query };
  const start = `/${bucketName}/`;
  if (!path.startsWith(start)) throw new S3Refusal(404, "NoSuchBucket", "The bucket does not exist.");
  const key = decode(path.slice(start.length));
  if (!isPlainKey(key) || start + encodeKey(key) !== path) throw invalidUri();
  return { path, key, query };
}

/**
 * Returns what a request of a client does, if it is one that the forwarder passes on.
 *
 * @param prefix - what the keys of the client begin with
 * @throws {S3Refusal}
 */
export function readRequest(
  method: string,
  { key, query }: RequestTarget,
  headers: IncomingHttpHeaders,
  prefix: string,
): ForwardedRequest {
  const known = METHODS.find((name) => name === method);
  if (known === undefined) throw notImplemented(`The method ${method.slice(0, 20)} is not supported.`);
  const unsupported = Object.keys(headers).find((name) => isUnsupported(name, known));
  if (unsupported !== undefined) throw notImplemented(`The header ${unsupported.slice(0, 100)} is not supported.`);
  if (key === null) return { kind: "list", query: readList(known, query, prefix) };
  const [parameter] = Object.keys(query);
  if (parameter !== undefined)
    throw notImplemented(`The parameter ${parameter.slice(0, 100)} is not supported for objects.`);
  if (!key.startsWith(prefix)) throw accessDenied("The key is outside the prefix of these credentials.");
  if (known === "PUT") checkBody(headers);
  return { kind: "object", method: known, key, headers: selectHeaders(known, headers) };
}

function readQuery(search: string): Record<string, string> {
  const query: Record<string, string> = {};
  for (const pair of search === "" ? [] : search.split("&")) {
    const [name = "", value = "", ...rest] = pair.split("=");
    const decoded = decode(name);
    if (rest.length > 0 || decoded === "" || decoded in query) throw invalidUri();
    query[decoded] = decode(value);
  }
  return query;
}

function readList(method: string, query: Record<string, string>, prefix: string): Record<string, string> {
  const { "list-type": type, ...parameters } = query;
  if (method !== "GET" || type !== "2") throw notImplemented("Only ListObjectsV2 is supported for the bucket.");
  const unknown = Object.keys(parameters).find((name) => !LIST_PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw notImplemented(`The parameter ${unknown.slice(0, 100)} is not supported for the bucket.`);
  const { prefix: wanted = "", delimiter = "/", "max-keys": maxKeys = "1000", "start-after": after } = parameters;
  if (!isInside(wanted, prefix) || (after !== undefined && !isInside(after, prefix)))
    throw accessDenied("The prefix is outside that of these credentials.");
  if (delimiter !== "/") throw notImplemented("The delimiter must be /.");
  if (!/^(?:[1-9]\d{0,2}|1000)$/.test(maxKeys))
    throw new S3Refusal(400, "InvalidArgument", "max-keys must be between 1 and 1000.");
  return parameters;
}

/** Whether a text is the beginning of a key below `prefix`, as a part of a path. */
function isInside(text: string, prefix: string): boolean {
  const folder = text.slice(0, text.lastIndexOf("/") + 1);
  const name = text.slice(folder.length);
  return text.startsWith(prefix) && isFolder(folder) && (name === "" || isPlainKey(`${name}x`));
}

function isUnsupported(name: string, method: (typeof METHODS)[number]): boolean {
  if (UNSUPPORTED_HEADERS.includes(name)) return true;
  if (!name.startsWith("x-amz-") || SIGNATURE_HEADERS.includes(name)) return false;
  return !(method === "PUT" && isObjectHeader(name));
}

function isObjectHeader(name: string): boolean {
  return /^x-amz-(?:meta|checksum)-[a-z0-9_-]{1,100}$/.test(name);
}

function checkBody(headers: IncomingHttpHeaders): void {
  const { "content-length": length, "x-amz-content-sha256": hash } = headers;
  if (length === undefined) throw new S3Refusal(411, "MissingContentLength", "A PUT needs the header Content-Length.");
  if (Number(length) > MAX_BODY_BYTES)
    throw new S3Refusal(400, "EntityTooLarge", `A body exceeds ${MAX_BODY_BYTES} bytes.`);
  if (!/^(?:UNSIGNED-PAYLOAD|[0-9a-f]{64})$/.test(String(hash)))
    throw notImplemented("x-amz-content-sha256 must be a hash, or UNSIGNED-PAYLOAD.");
}

function selectHeaders(method: (typeof METHODS)[number], headers: IncomingHttpHeaders): Record<string, string> {
  const isPassed = (name: string) => HEADERS[method].includes(name) || (method === "PUT" && isObjectHeader(name));
  const passed = Object.entries(headers).filter(([name]) => isPassed(name));
  return Object.fromEntries(passed.map(([name, value]) => [name, String(value)]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidUri();
  }
}

function invalidUri(): S3Refusal {
  return new S3Refusal(400, "InvalidURI", "The URL is not that of one object or list in its only encoding.");
}
