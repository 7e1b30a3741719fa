import { deleteGitConnection, updateGitConnection } from "../domain/git-connections/change-git-connection.ts";
import { createGitConnection } from "../domain/git-connections/create-git-connection.ts";
import { listBranches, listGitConnections, listRepositories } from "../domain/git-connections/list-git-connections.ts";
import { deleteResponse } from "./core/common.schema.ts";
import { procedure, router } from "./core/trpc.ts";
import {
  branchPage,
  createGitConnectionRequest,
  gitConnection,
  gitConnectionList,
  gitConnectionRequest,
  listBranchesRequest,
  listRepositoriesRequest,
  repositoryPage,
  updateGitConnectionRequest,
} from "./git-connections.schema.ts";

const tags = ["Git connections"];
const access = { scope: "everything", role: "admin" } as const;
const noConnection = "No such git connection in the organization";

export const gitConnections = router({
  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/git-connections",
        tags,
        summary: "List git connections",
        description: "The git hosts that the organization has connected, oldest first.",
        successDescription: "The git connections",
      },
    })
    .output(gitConnectionList)
    .query(({ ctx }) => listGitConnections(ctx.service, ctx.caller)),

  create: procedure
    .meta({
      access,
      openapi: {
        method: "POST",
        path: "/v1/git-connections",
        tags,
        summary: "Connect a git host",
        description:
          "Lets the organization deploy private repositories, and those of another git host. The host is asked whether it accepts the token. The token never enters a build.",
        successStatus: 201,
        successDescription: "The git connection",
        errorResponses: {
          400: "A value is invalid, or the host does not accept the token or cannot be reached",
          409: "There is a connection for the same repositories, or the organization has too many",
        },
      },
    })
    .input(createGitConnectionRequest)
    .output(gitConnection)
    .mutation(({ ctx, input }) => createGitConnection(ctx.service, ctx.caller, input)),

  update: procedure
    .meta({
      access,
      openapi: {
        method: "PATCH",
        path: "/v1/git-connections/{id}",
        tags,
        summary: "Replace the token of a git connection",
        description: "Replaces the token, after the host has accepted the new one.",
        successDescription: "The git connection",
        errorResponses: { 400: "The host does not accept the token or cannot be reached", 404: noConnection },
      },
    })
    .input(updateGitConnectionRequest)
    .output(gitConnection)
    .mutation(({ ctx, input }) => updateGitConnection(ctx.service, ctx.caller, input)),

  delete: procedure
    .meta({
      access,
      openapi: {
        method: "DELETE",
        path: "/v1/git-connections/{id}",
        tags,
        summary: "Delete a git connection",
        description:
          "Deletes the connection with its token, with effect at once. Apps stay live; a redeploy of a private repository fails.",
        successDescription: "The git connection is deleted",
        errorResponses: { 404: noConnection },
      },
    })
    .input(gitConnectionRequest)
    .output(deleteResponse)
    .mutation(({ ctx, input }) => deleteGitConnection(ctx.service, ctx.caller, input.id)),

  repositories: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/git-connections/{id}/repositories",
        tags,
        summary: "List the repositories of a git connection",
        description: "The repositories that can be deployed with the connection, as the git host lists them.",
        successDescription: "A page of the repositories",
        errorResponses: { 400: "A value is invalid, or the host does not list repositories", 404: noConnection },
      },
    })
    .input(listRepositoriesRequest)
    .output(repositoryPage)
    .query(({ ctx, input }) => listRepositories(ctx.service, ctx.caller, input)),

  branches: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/git-connections/{id}/branches",
        tags,
        summary: "List the branches of a repository",
        description: "The branches of a repository of the connection, as the git host lists them.",
        successDescription: "A page of the branches",
        errorResponses: { 400: "A value is invalid, or the host does not list branches", 404: noConnection },
      },
    })
    .input(listBranchesRequest)
    .output(branchPage)
    .query(({ ctx, input }) => listBranches(ctx.service, ctx.caller, input)),
});
