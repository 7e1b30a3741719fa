import { z } from "zod";
import type { ArchiveView } from "../domain/archives/upload-archive.ts";
import { streamedFile } from "./core/common.schema.ts";

export const uploadArchiveRequest = z.strictObject({
  file: streamedFile("A tar archive, plain or compressed by gzip or Zstandard"),
});

export const archiveResponse = z
  .object({
    id: z.string().meta({ description: "The SHA-256 of the archive, for `archive` of a deploy request" }),
    size: z.int().meta({ description: "Of the archive itself, in bytes" }),
    file_count: z.int(),
    unpacked_size: z.int().meta({ description: "Of all its files, in bytes" }),
  })
  .meta({ id: "Archive" }) satisfies z.ZodType<ArchiveView>;
