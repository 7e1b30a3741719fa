import { clearWorkspace } from "../domain/agent-workspaces/clear-workspace.ts";
import { listWorkspaceFiles } from "../domain/agent-workspaces/list-workspace-files.ts";
import { readWorkspaceFile } from "../domain/agent-workspaces/read-workspace-file.ts";
import {
  clearedWorkspace,
  clearWorkspaceRequest,
  listWorkspaceFilesRequest,
  readWorkspaceFileRequest,
  workspaceFilePart,
  workspacePage,
} from "./agent-workspaces.schema.ts";
import { procedure, router } from "./core/trpc.ts";

const tags = ["Agents"];
const noFile = "No such agent in the organization, or no such file in its workspace";

export const agentWorkspaces = router({
  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/agents/{id}/workspace",
        tags,
        summary: "List the files of an agent",
        description: "The files that the programs of an agent have left in `/workspace`, by path.",
        successDescription: "A page of the files",
        errorResponses: { 400: "The cursor or the limit is invalid", 404: "No such agent in the organization" },
      },
    })
    .input(listWorkspaceFilesRequest)
    .output(workspacePage)
    .query(({ ctx, input }) => listWorkspaceFiles(ctx.service, ctx.caller, input)),

  read: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/agents/{id}/workspace/file",
        tags,
        summary: "Read a file of an agent",
        description: "A part of one file in the workspace of an agent, by default its first 256 KiB.",
        successDescription: "The part of the file",
        errorResponses: { 400: "The path, the offset or the length is invalid", 404: noFile },
      },
    })
    .input(readWorkspaceFileRequest)
    .output(workspaceFilePart)
    .query(({ ctx, input }) => readWorkspaceFile(ctx.service, ctx.caller, input)),

  clear: procedure
    .meta({
      access: { scope: "everything" },
      openapi: {
        method: "DELETE",
        path: "/v1/agents/{id}/workspace",
        tags,
        summary: "Remove files of an agent",
        description:
          "Removes a file or a folder from the workspace of an agent, or without `path` all files. Waits up to 10 seconds for a running program of the agent.",
        successDescription: "The files are removed",
        errorResponses: { 400: "The path is invalid", 404: noFile, 409: "A program of the agent is still running" },
      },
    })
    .input(clearWorkspaceRequest)
    .output(clearedWorkspace)
    .mutation(({ ctx, input }) => clearWorkspace(ctx.service, ctx.caller, input)),
});
