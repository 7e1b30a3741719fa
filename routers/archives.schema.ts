import { z } from "zod";
import { ARCHIVE_LIMITS } from "../domain/archives/archive-limits.ts";
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

/** Of an app without a repository. */
const archive = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "must be the id of an archive: 64 hexadecimal digits in lower case")
  .meta({ description: "The id of an uploaded archive, instead of a repository" });

const files = z.record(z.string(), z.string()).meta({
  description: `The files of the app, as text by path, instead of a repository: at most ${ARCHIVE_LIMITS.inlineFiles}, and ${ARCHIVE_LIMITS.inlineBytes / 1024 / 1024} MiB in total`,
  examples: [{ "package.json": "{}", "src/index.ts": "export default { fetch: () => new Response('Hello') };" }],
});

/** Short, because an agent reads it with every list of the tools. */
export const deployedArchiveOfTool = {
  files: z.record(z.string(), z.string()).optional().meta({ description: "All files of the app, as text by path" }),
  archive: z.string().optional().meta({ description: "The id of an uploaded archive" }),
};

export const deployedArchive = { archive: archive.optional(), files: files.optional() };
