import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { accessDenied, S3Refusal } from "./s3-refusal.ts";
import { type SignableRequest, signRequest } from "./sign-request.ts";

/** A signature of version 4 in the header `Authorization`. */
export interface RequestSignature {
  accessKeyId: string;
  region: string;
  date: Date;
  signedHeaders: readonly string[];
  authorization: string;
}

/** How far the clock of the client may be from that of the forwarder. S3 has the same limit. */
const MAX_SKEW_MS = 15 * 60_000;
const REQUIRED_HEADERS = ["host", "x-amz-content-sha256", "x-amz-date"];
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([A-Za-z0-9]{1,128})\/(\d{8})\/([a-z0-9-]{1,50})\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]{1,2000}), ?Signature=([0-9a-f]{64})$/;
const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/**
 * Reads the signature of a request. It covers the headers that name the host, the time and the body, and all others of S3.
 *
 * @throws {S3Refusal}
 */
export function readSignature(headers: IncomingHttpHeaders): RequestSignature {
  const match = AUTHORIZATION.exec(headers.authorization ?? "");
  if (match === null) throw accessDenied("The request needs a signature of version 4 in the header Authorization.");
  const [authorization, accessKeyId = "", day, region = "", names = ""] = match;
  const signedHeaders = names.split(";");
  const mustBeSigned = [...REQUIRED_HEADERS, ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))];
  const missing = mustBeSigned.find((name) => !signedHeaders.includes(name) || headers[name] === undefined);
  if (missing !== undefined) throw accessDenied(`The signature does not cover the header ${missing}.`);
  const time = String(headers["x-amz-date"]);
  const date = new Date(time.replace(TIME, "$1-$2-$3T$4:$5:$6Z"));
  if (!TIME.test(time) || !time.startsWith(day ?? "") || Number.isNaN(date.getTime()))
    throw accessDenied("The header x-amz-date is not the time of the signature.");
  if (Math.abs(Date.now() - date.getTime()) > MAX_SKEW_MS)
    throw new S3Refusal(403, "RequestTimeTooSkewed", "The time of the request is more than 15 minutes off.");
  return { accessKeyId, region, date, signedHeaders, authorization };
}

/**
 * Verifies a signature by signing the same request.
 *
 * @param request.headers - all headers of the request
 * @throws {S3Refusal}
 */
export async function verifySignature(
  signature: RequestSignature,
  secretAccessKey: string,
  request: Omit<SignableRequest, "headers"> & { headers: IncomingHttpHeaders },
): Promise<void> {
  const { accessKeyId, region, date, signedHeaders, authorization } = signature;
  const headers = Object.fromEntries(signedHeaders.map((name) => [name, String(request.headers[name] ?? "")]));
  const expected = await signRequest({ ...request, headers }, { accessKeyId, secretAccessKey }, region, date);
  // The client can leave out the spaces after the commas.
  const isSame = timingSafeEqual(digest(withSpaces(authorization)), digest(expected.authorization));
  if (!isSame) throw new S3Refusal(403, "SignatureDoesNotMatch", "The signature is not valid for this request.");
}

function withSpaces(authorization: string): string {
  return authorization.replaceAll(/, ?/g, ", ");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
