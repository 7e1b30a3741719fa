import { deleteSource } from "../domain/knowledge-sources/delete-source.ts";
import { addSource, getSource, listSources, refreshSource } from "../domain/knowledge-sources/manage-sources.ts";
import { deleteResponse } from "./core/common.schema.ts";
import { procedure, readRepositoryProcedure, router } from "./core/trpc.ts";
import { addSourceRequest, sourceDetail, sourceList, sourceRequest } from "./knowledge-sources.schema.ts";

const tags = ["Company Knowledge"];
const access = { scope: "everything" } as const;
const noSource = "No such source in the organization";

export const knowledgeSources = router({
  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/knowledge/sources",
        tags,
        summary: "List sources",
        description: "The URLs and repositories that documents of Company Knowledge follow, the newest first.",
        successDescription: "The sources",
      },
    })
    .output(sourceList)
    .query(({ ctx }) => listSources(ctx.service, ctx.caller)),

  add: readRepositoryProcedure
    .meta({
      access,
      openapi: {
        method: "POST",
        path: "/v1/knowledge/sources",
        tags,
        summary: "Add a source",
        description:
          "Adds a page or a file of the public web, or the documents in a folder of a repository. The source is read at once and then each day: its documents are created, replaced and deleted as it changes. Links of a page are not followed. People cannot change the documents of a source.",
        successStatus: 201,
        successDescription: "The source is added, and its first reading is queued",
        errorResponses: {
          400: "The URL, the repository, the branch, the path or the kind is invalid",
          409: "The organization has this source already, or too many sources",
        },
      },
    })
    .input(addSourceRequest)
    .output(sourceDetail)
    .mutation(({ ctx, input }) => addSource(ctx.service, ctx.caller, input)),

  get: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/knowledge/sources/{id}",
        tags,
        summary: "Get a source",
        description: "The state of a source, with the documents that could not be stored.",
        successDescription: "The source",
        errorResponses: { 404: noSource },
      },
    })
    .input(sourceRequest)
    .output(sourceDetail)
    .query(({ ctx, input }) => getSource(ctx.service, ctx.caller, input.id)),

  refresh: procedure
    .meta({
      access,
      openapi: {
        method: "POST",
        path: "/v1/knowledge/sources/{id}/refresh",
        tags,
        summary: "Refresh a source",
        description: "Reads the source now, unless a reading is queued or running.",
        successDescription: "The source, whose reading is queued",
        errorResponses: { 404: noSource },
      },
    })
    .input(sourceRequest)
    .output(sourceDetail)
    .mutation(({ ctx, input }) => refreshSource(ctx.service, ctx.caller, input.id)),

  delete: procedure
    .meta({
      access,
      openapi: {
        method: "DELETE",
        path: "/v1/knowledge/sources/{id}",
        tags,
        summary: "Delete a source",
        description:
          "Deletes the source and all its documents. The documents of a large source are removed within minutes after the response.",
        successDescription: "The source is deleted",
        errorResponses: { 404: noSource },
      },
    })
    .input(sourceRequest)
    .output(deleteResponse)
    .mutation(({ ctx, input }) => deleteSource(ctx.service, ctx.caller, input.id)),
});
