import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";

export interface BucketCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

export interface SignableRequest {
  method: string;
  /** The encoded path of the URL. */
  path: string;
  query: Readonly<Record<string, string>>;
  /** All headers to sign, with lower-case names; `host` and `x-amz-content-sha256` are two of them. */
  headers: Readonly<Record<string, string>>;
}

/** The value of `x-amz-content-sha256` when the signature does not cover the body. */
export const UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";

/** Returns the headers that sign a request with signature version 4, for S3. */
export async function signRequest(
  { method, path, query, headers }: SignableRequest,
  credentials: BucketCredentials,
  region: string,
  date = new Date(),
): Promise<{ authorization: string; "x-amz-date": string }> {
  const signer = new SignatureV4({
    credentials,
    region,
    service: "s3",
    sha256: Sha256,
    // The path of an object is encoded once, and its segments are not normalized.
    uriEscapePath: false,
    applyChecksum: false,
  });
  const request = { method, path, query: { ...query }, headers: { ...headers }, protocol: "https:", hostname: "" };
  const options = { signingDate: date, signableHeaders: new Set(Object.keys(headers)) };
  const signed = await signer.sign(request, options);
  return { authorization: signed.headers["authorization"] ?? "", "x-amz-date": signed.headers["x-amz-date"] ?? "" };
}

type Data = string | ArrayBuffer | ArrayBufferView;

/** SHA-256, or its HMAC when it has a key, in the form that the signer requires. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(key?: Data) {
    this.#hash = key === undefined ? createHash("sha256") : createHmac("sha256", toBytes(key));
  }

  update(data: Data): void {
    this.#hash.update(toBytes(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

function toBytes(data: Data): Uint8Array {
  if (typeof data === "string") return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
