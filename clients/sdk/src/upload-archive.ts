import type { CallOptions } from "./call-options.ts";
import type { Transport } from "./transport.ts";

export interface UploadArchiveRequest {
  /** A tar archive, plain or compressed by gzip or Zstandard, or a function that opens it. It is called for each attempt. */
  file: Blob | (() => ReadableStream<Uint8Array>);
}

export interface UploadedArchive {
  /** The SHA-256 of the archive, for `archive` of a deploy request. */
  id: string;
  /** Of the archive itself, in bytes. */
  size: number;
  file_count: number;
  /** Of all its files, in bytes. */
  unpacked_size: number;
}

/** Stores an archive with the source code of an app. The same archive is stored once, so it can be repeated. */
export async function uploadArchive(
  transport: Transport,
  { file }: UploadArchiveRequest,
  options: CallOptions = {},
): Promise<UploadedArchive> {
  const body = typeof file === "function" ? file : () => file;
  const upload = { body, contentType: "application/octet-stream" };
  return (await transport.upload("/v1/archives", upload, options)) as UploadedArchive;
}
