import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

/**
 * Whether a request has a valid signature of version 4 in its header. It is written from the description of S3, without the
 * library that signs requests, so that the two check each other.
 */
export function hasValidSignature(request: IncomingMessage, secretAccessKey: string, accessKeyId: string): boolean {
  const { method, url = "", headers } = request;
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    );
  if (match === null) return false;
  const [, keyId, day = "", region = "", signedHeaders = "", signature] = match;
  const [path = "", search = ""] = url.split("?");
  const query = search === "" ? [] : search.split("&").map((pair) => (pair.includes("=") ? pair : `${pair}=`));
  const lines = signedHeaders.split(";").map((name) => `${name}:${String(headers[name] ?? "").trim()}\n`);
  const canonical = [
    method,
    path,
    query.toSorted().join("&"),
    lines.join(""),
    signedHeaders,
    headers["x-amz-content-sha256"],
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hash("sha256", canonical)].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (previous, part) => createHmac("sha256", previous).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  return keyId === accessKeyId && createHmac("sha256", key).update(text).digest("hex") === signature;
}

export function hash(algorithm: "md5" | "sha256", data: string | Buffer): string {
  return createHash(algorithm).update(data).digest("hex");
}
