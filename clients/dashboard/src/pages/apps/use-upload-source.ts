import { formatError, sendFile } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import type { UploadedSource } from "./uploaded-source.ts";

/** Uploads a source, and returns the id of its archive for a deploy request. */
export function useUploadSource(): (source: UploadedSource) => Promise<string> {
  const { id: orgId } = useOrganization();
  return async (source) => (await sendFile<{ id: string }>(orgId, "/v1/archives", await source.pack())).id;
}

/** The message about an error of reading, packing or uploading a source. */
export function explain(error: Error): string {
  return error.name === "SourceError" ? error.message : formatError(error);
}
