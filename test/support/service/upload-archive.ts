import type { ArchiveView } from "../../../domain/archives/upload-archive.ts";
import type { RestClient } from "../clients/rest-client.ts";

export interface UploadResponse {
  status: number;
  /** Of a response without an error. */
  body: ArchiveView & { error?: string };
}

/** Sends an archive as the body of a request. */
export async function uploadArchive(
  rest: RestClient,
  archive: Uint8Array,
  contentType = "application/x-tar",
): Promise<UploadResponse> {
  const headers = { "content-type": contentType };
  const { status, body } = await rest.send("POST", "/v1/archives", { body: Buffer.from(archive), headers });
  return { status, body: body as unknown as UploadResponse["body"] };
}
