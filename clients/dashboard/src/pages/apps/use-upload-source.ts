import { formatError, sendFile } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import type { UploadedSource } from "./uploaded-source.ts";

/** Uploads a source, if there is one, and returns the fields of a deploy request for it. */
export function useUploadSource(): (source: UploadedSource | undefined) => Promise<{ archive?: string }> {
  const { id: orgId } = useOrganization();
  return async (source) => {
    if (source === undefined) return {};
    const { id: archive } = await sendFile<{ id: string }>(orgId, "/v1/archives", await source.pack());
    return { archive };
  };
}

/** The message about an error of reading, packing or uploading a source. */
export function explain(error: Error): string {
  return error.name === "SourceError" ? error.message : formatError(error);
}
