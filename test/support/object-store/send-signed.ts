import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { signRequest } from "../../../server/platforms/embedded/cluster/sign-request.ts";

export interface SignedRequest {
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
  method: string;
  /** As it is sent. */
  path: string;
  query?: Record<string, string>;
  /** Headers that are signed. */
  headers?: Record<string, string>;
  /** Headers that are added after the signature, or replace its own. */
  unsignedHeaders?: Record<string, string>;
  /** What is sent in place of the path and the query that were signed. */
  url?: string;
  /** What is sent in place of the method that was signed. */
  sentMethod?: string;
  date?: Date;
  body?: string;
}

export interface SignedResponse {
  status: number | undefined;
  headers: IncomingMessage["headers"];
  body: string;
  /** Of an error document. */
  code: string | undefined;
}

/** Sends a signed request exactly as it is described, which clients of S3 do not. */
export async function sendSigned(signed: SignedRequest): Promise<SignedResponse> {
  const { endpoint, method, path, query = {}, body = "", date = new Date(), unsignedHeaders = {} } = signed;
  const headers = {
    host: new URL(endpoint).host,
    "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
    ...(body !== "" && { "content-length": String(Buffer.byteLength(body)) }),
    ...signed.headers,
  };
  const signature = await signRequest({ method, path, query, headers }, signed, "auto", date);
  const search = new URLSearchParams(query).toString().replaceAll("+", "%20");
  const url = signed.url ?? `${path}${search === "" ? "" : `?${search}`}`;
  const outgoing = request(endpoint, {
    method: signed.sentMethod ?? method,
    path: url,
    headers: { ...headers, ...signature, ...unsignedHeaders },
    agent: false,
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const text = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString();
  const code = /<Code>([^<]*)<\/Code>/.exec(text)?.[1];
  return { status: response.statusCode, headers: response.headers, body: text, code };
}
