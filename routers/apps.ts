import { readPageVersion } from "../domain/apps/app-list-versions.ts";
import { browseApps } from "../domain/apps/browse-apps.ts";
import { deleteApp } from "../domain/apps/delete-app.ts";
import { deployApp } from "../domain/apps/deploy-app.ts";
import { getApp } from "../domain/apps/get-app.ts";
import { listApps } from "../domain/apps/list-apps.ts";
import { rotateAppToken } from "../domain/apps/rotate-app-token.ts";
import { readDeploymentLog } from "../domain/deployments/read-deployment-log.ts";
import {
  appDetail,
  appId,
  browseAppsRequest,
  browseAppsResponse,
  deleteResponse,
  deployRequest,
  deployResponse,
  listAppsResponse,
  logsResponse,
  rotateAppTokenRequest,
  rotateAppTokenResponse,
} from "./apps.schema.ts";
import { deployProcedure, procedure, router } from "./core/trpc.ts";

const tags = ["Apps"];
const unauthenticated = "The token is missing or invalid";
const notFound = "No such app in the organization";
const fault = "The service failed";

export const apps = router({
  deploy: deployProcedure
    .meta({
      access: { scope: "deploy" },
      openapi: {
        method: "POST",
        path: "/v1/apps/deploy",
        tags,
        summary: "Deploy an app from a repository",
        description:
          "Records an app and starts its build. Follow it with the app's `status` until it is `ready` or `failed`. Repeating a call with the same `Idempotency-Key` answers with the app of the first call.",
        successStatus: 201,
        successDescription: "The deployment is initiated",
        errorResponses: {
          400: "The request is invalid",
          401: unauthenticated,
          403: "The plan limit is exceeded, or the token may not deploy",
          409: "The app made with this Idempotency-Key was deleted",
          422: "The Idempotency-Key was used for another request",
          429: "The organization deploys too often",
          500: fault,
        },
      },
    })
    .input(deployRequest)
    .output(deployResponse)
    .mutation(({ ctx, input }) => deployApp(ctx.apps, ctx.caller, input, ctx.idempotencyKey)),

  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps",
        tags,
        summary: "List the organization's apps",
        description: "Every app of the organization, newest first.",
        successDescription: "The apps",
        errorResponses: { 401: unauthenticated, 500: fault },
      },
    })
    .output(listAppsResponse)
    .query(({ ctx }) => listApps(ctx.apps, ctx.caller)),

  get: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}",
        tags,
        summary: "Get one app",
        successDescription: "The app",
        errorResponses: { 401: unauthenticated, 404: notFound, 500: fault },
      },
    })
    .input(appId)
    .output(appDetail)
    .query(({ ctx, input }) => getApp(ctx.apps, ctx.caller, input.id)),

  delete: procedure
    .meta({
      openapi: {
        method: "DELETE",
        path: "/v1/apps/{id}",
        tags,
        summary: "Delete an app",
        description:
          "Tears down the app's script, auth entry, SQL database and sources, then removes its record. The answer is `deleted` only when all of it is gone; repeating the call is safe.",
        successDescription: "Everything of the app is gone",
        errorResponses: {
          401: unauthenticated,
          404: notFound,
          500: "The teardown is not finished yet and goes on by itself",
        },
      },
    })
    .input(appId)
    .output(deleteResponse)
    .mutation(({ ctx, input }) => deleteApp(ctx.apps, ctx.caller, input.id)),

  rotateToken: procedure
    .meta({
      openapi: {
        method: "POST",
        path: "/v1/apps/{id}/rotate-token",
        tags,
        summary: "Replace an app's token",
        description:
          "Gives the app a new token and lets the old one run out after the overlap. Only one token overlaps: whatever was still good from an earlier rotation ends at once.",
        successDescription: "The new token, good from now on",
        errorResponses: {
          400: "The request is invalid",
          401: unauthenticated,
          403: "The token may not change apps",
          404: notFound,
          409: "The app is not ready",
          500: fault,
        },
      },
    })
    .input(rotateAppTokenRequest)
    .output(rotateAppTokenResponse)
    .mutation(({ ctx, input }) => rotateAppToken(ctx.apps, ctx.caller, input)),

  logs: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}/logs",
        tags,
        summary: "Read an app's build log",
        successDescription: "The build status and the log as far as it is written",
        errorResponses: { 401: unauthenticated, 404: notFound, 500: fault },
      },
    })
    .input(appId)
    .output(logsResponse)
    .query(({ ctx, input }) => readDeploymentLog(ctx.deployments, ctx.caller, input.id)),

  browse: procedure
    .meta({
      tool: {
        name: "service_list_apps",
        title: "List apps",
        description:
          'Lists the organization\'s apps, newest first: id, name, slug, status and what to do about a failure, URL, procedure_count. Use it to find a slug or to see whether a deploy is ready; service_docs_search finds what apps can do. A page ends after limit apps, or earlier to stay short: pass next_cursor as cursor to read on, until it is null. Example: {"limit": 10}',
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
        resultVersion: readPageVersion,
      },
    })
    .input(browseAppsRequest)
    .output(browseAppsResponse)
    .query(({ ctx, input }) => browseApps(ctx.apps, ctx.caller, input)),
});
