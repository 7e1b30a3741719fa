import { ARCHIVE_LIMITS } from "../domain/archives/archive-limits.ts";
import { uploadArchive } from "../domain/archives/upload-archive.ts";
import { archiveResponse, uploadArchiveRequest } from "./archives.schema.ts";
import { procedure, router } from "./core/trpc.ts";

export const archives = router({
  upload: procedure
    .meta({
      access: { scope: "deploy" },
      openapi: {
        method: "POST",
        path: "/v1/archives",
        tags: ["Apps"],
        summary: "Upload an archive",
        description: `Stores the source of an app, to deploy it without a repository: a tar archive is the body of the request, plain or compressed by gzip or Zstandard. It may contain files, folders and symbolic links that stay inside. The same archive is stored once, so a request can be repeated. It is removed ${ARCHIVE_LIMITS.unusedHours} hours after it was uploaded or deployed last, if no app needs it.`,
        bodyLimit: ARCHIVE_LIMITS.bytes,
        streamedBody: {
          field: "file",
          contentTypes: [
            "application/x-tar",
            "application/gzip",
            "application/x-gzip",
            "application/zstd",
            "application/octet-stream",
          ],
        },
        successStatus: 201,
        successDescription: "The archive is stored",
        errorResponses: {
          400: "The archive cannot be unpacked; the error names the entry",
          403: "The organization stores too many archives, the scope is insufficient, or the user is a member of no organization",
          503: "Too many archives are being uploaded, or the database is temporarily unavailable",
        },
      },
    })
    .input(uploadArchiveRequest)
    .output(archiveResponse)
    .mutation(({ ctx, input }) => uploadArchive(ctx.service, ctx.caller, input)),
});
