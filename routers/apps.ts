import { readPageVersion } from "../domain/apps/app-list-versions.ts";
import { browseApps } from "../domain/apps/browse-apps.ts";
import { deleteApp } from "../domain/apps/delete-app.ts";
import { deployApp } from "../domain/apps/deploy-app.ts";
import { getApp } from "../domain/apps/get-app.ts";
import { listApps } from "../domain/apps/list-apps.ts";
import { rotateAppToken } from "../domain/apps/rotate-app-token.ts";
import { updateApp } from "../domain/apps/update-app.ts";
import { readDeploymentLog } from "../domain/deployments/read-deployment-log.ts";
import { exportApp } from "../domain/exports/export-app.ts";
import { EXPORT_LIMITS } from "../domain/exports/export-limits.ts";
import { importApp } from "../domain/exports/import-app.ts";
import { ServiceError } from "../domain/shared/errors.ts";
import {
  appDetail,
  appId,
  appOfToolRequest,
  browseAppsRequest,
  browseAppsResponse,
  deployRequest,
  deployResponse,
  deployToolRequest,
  deployToolResponse,
  listAppsResponse,
  logsResponse,
  rotateAppTokenRequest,
  rotateAppTokenResponse,
  updateAppRequest,
} from "./apps.schema.ts";
import { deleteResponse } from "./core/common.schema.ts";
import { DEPLOY_BODY_BYTES } from "./core/deploy-body.ts";
import { READS, REPLACES, STARTS_DEPLOYMENT } from "./core/tool-annotations.ts";
import { exportAppRequest, exportAppResponse, importAppRequest, importAppResponse } from "./exports.schema.ts";
import { deployProcedure, deployRepositoryProcedure, procedure, router } from "./core/trpc.ts";

const tags = ["Apps"];
const notFound = "No such app in the organization";

export const apps = router({
  export: procedure
    .meta({
      access: { scope: "deploy" },
      openapi: {
        method: "POST",
        path: "/v1/apps/{id}/export",
        tags,
        summary: "Export an app with its data",
        description:
          "The response is a tar archive, compressed by gzip: `manifest.json` with the settings, the source of the live version, and the data. The app continues to run. The token of the app and the values of secrets are never in it; those of other variables are with `variables`. `POST /v1/apps/import` makes an app of it, also in another installation.",
        download: "application/gzip",
        successDescription: "The export",
        errorResponses: {
          404: notFound,
          409: "The app is not live, or cannot be exported",
          503: "Other apps are being exported, or the database is temporarily unavailable",
        },
      },
    })
    .input(exportAppRequest)
    .output(exportAppResponse)
    .mutation(({ ctx, input, signal = new AbortController().signal }) => {
      if (!ctx.acceptsDownloads) throw new ServiceError("invalid", "Export over REST: the response is a file.");
      return exportApp(ctx.service, ctx.caller, input, signal);
    }),

  import: deployProcedure
    .meta({
      access: { scope: "deploy" },
      isRepeatable: true,
      openapi: {
        method: "POST",
        path: "/v1/apps/import",
        tags,
        summary: "Import an app with its data",
        description:
          "Creates an app from an export, which is the body of the request, and starts its first deployment. The deployment builds the source, and restores the data before the app gets its first request. The app has an id, a slug and a token of its own. `missing_variables` are those whose values are not in the export: set them, and deploy again if the app needs them. Counts against the deploy limit.",
        bodyLimit: EXPORT_LIMITS.bytes,
        streamedBody: {
          field: "file",
          contentTypes: ["application/gzip", "application/x-gzip", "application/octet-stream"],
        },
        successStatus: 201,
        successDescription: "The deployment has started",
        errorResponses: {
          400: "The file is no export, is damaged, or has something that an app cannot have",
          403: "The plan limit is exceeded, the scope is insufficient, or the user is a member of no organization",
          409: "The installation cannot import apps, or the app made with this Idempotency-Key was deleted",
          422: "The Idempotency-Key was used for a different request",
          429: "The organization has reached its deploy limit, or the client's network has sent too many invalid tokens",
          503: "Other apps are being imported, or the database is temporarily unavailable",
        },
      },
    })
    .input(importAppRequest)
    .output(importAppResponse)
    .mutation(({ ctx, input }) => importApp(ctx.service, ctx.caller, input, ctx.idempotencyKey)),

  deploy: deployRepositoryProcedure
    .meta({
      access: { scope: "deploy" },
      isRepeatable: true,
      openapi: {
        method: "POST",
        path: "/v1/apps/deploy",
        tags,
        summary: "Deploy an app",
        description:
          "Creates an app from a repository, an uploaded archive or the given files, and starts its first deployment. Send exactly one of `repo`, `archive` and `files`. Read the app's `status` until it is `ready` or `failed`. Repeating a call with the same `Idempotency-Key` returns the app of the first call. Every other attempt counts against the deploy limit, whatever its result.",
        bodyLimit: DEPLOY_BODY_BYTES,
        requiresBody: true,
        successStatus: 201,
        successDescription: "The deployment has started",
        errorResponses: {
          400: "The request is invalid",
          403: "The plan limit is exceeded, the scope is insufficient, or the user is a member of no organization",
          409: "The app made with this Idempotency-Key was deleted",
          422: "The Idempotency-Key was used for a different request",
          429: "The organization has reached its deploy limit, or the client's network has sent too many invalid tokens",
        },
      },
      tool: {
        name: "service_deploy_app",
        title: "Deploy an app",
        description:
          'Creates an app from a git repository or from given files (exactly one of repo, files and archive), and starts its first deployment. To deploy a new commit of an app that exists, use service_redeploy_app. It returns at once: read the status with service_get_app_logs until it is ready or failed. Every call counts against the deploy limit, which service_get_usage shows. Example: {"repo": "acme/site"}',
        annotations: STARTS_DEPLOYMENT,
        arguments: deployToolRequest,
        // The app token is left out, because the context of an agent must not contain secrets.
        result: deployToolResponse,
      },
    })
    .input(deployRequest)
    .output(deployResponse)
    .mutation(({ ctx, input }) => deployApp(ctx.service, ctx.caller, input, ctx.idempotencyKey)),

  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps",
        tags,
        summary: "List the organization's apps",
        description: "Every app of the organization, newest first.",
        successDescription: "The apps",
      },
    })
    .output(listAppsResponse)
    .query(({ ctx }) => listApps(ctx.service, ctx.caller)),

  get: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}",
        tags,
        summary: "Get one app",
        successDescription: "The app",
        errorResponses: { 404: notFound },
      },
    })
    .input(appId)
    .output(appDetail)
    .query(({ ctx, input }) => getApp(ctx.service, ctx.caller, input.id)),

  update: procedure
    .meta({
      access: { scope: "deploy" },
      openapi: {
        method: "PATCH",
        path: "/v1/apps/{id}",
        tags,
        summary: "Change an app's name or settings",
        description:
          "The slug, the URL and the token stay. A new branch takes effect with the next deployment that names none, `root_directory`, `build_network` and `runtime` with the next deployment.",
        successDescription: "The app",
        errorResponses: { 400: "The request is invalid", 404: notFound, 409: "The app is being deleted" },
      },
    })
    .input(updateAppRequest)
    .output(appDetail)
    .mutation(({ ctx, input }) => updateApp(ctx.service, ctx.caller, input)),

  delete: procedure
    .meta({
      openapi: {
        method: "DELETE",
        path: "/v1/apps/{id}",
        tags,
        summary: "Delete an app",
        description:
          "Removes the app's script, auth entry, SQL database and sources, then its record. The response is `deleted` only when all of them are removed. Repeating the call is safe.",
        successDescription: "The app and all of its resources are removed",
        errorResponses: {
          404: notFound,
          409: "The app has environments. Delete them first",
          500: "The teardown has not finished yet. The service continues it; repeat the call to see whether it has finished",
        },
      },
      tool: {
        name: "service_delete_app",
        title: "Delete an app",
        description:
          'Deletes an app with its script, SQL database, files and deployments. This cannot be undone, so ask the user first. Repeating the call is safe. Example: {"app_id": "shop-k7m2xq"}',
        annotations: REPLACES,
        arguments: appOfToolRequest,
        fields: { app_id: "id" },
      },
    })
    .input(appId)
    .output(deleteResponse)
    .mutation(({ ctx, input }) => deleteApp(ctx.service, ctx.caller, input.id)),

  rotateToken: procedure
    .meta({
      openapi: {
        method: "POST",
        path: "/v1/apps/{id}/rotate-token",
        tags,
        summary: "Replace an app's token",
        description:
          "Issues a new token for the app. The previous token stays valid for the overlap; all older tokens become invalid immediately.",
        successDescription: "The new token, which is valid now",
        errorResponses: {
          400: "The request is invalid",
          404: notFound,
          409: "The app is not ready",
        },
      },
    })
    .input(rotateAppTokenRequest)
    .output(rotateAppTokenResponse)
    .mutation(({ ctx, input }) => rotateAppToken(ctx.service, ctx.caller, input)),

  logs: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}/logs",
        tags,
        summary: "Read an app's build log",
        successDescription: "The status and the log of the newest deployment, as far as it is written",
        errorResponses: { 404: notFound },
      },
    })
    .input(appId)
    .output(logsResponse)
    .query(({ ctx, input }) => readDeploymentLog(ctx.service, ctx.caller, input.id)),

  browse: procedure
    .meta({
      withoutRest: { reason: "REST returns all apps at once, and an agent reads pages", isCommand: false },
      tool: {
        name: "service_list_apps",
        title: "List apps",
        description:
          'Lists the organization\'s apps, newest first: id, name, slug, status, what to do about a failure, URL, procedure_count. Use it to find a slug or to check whether a deployment is ready. service_docs_search finds what apps can do. A page has at most limit apps, or fewer to stay short. To read the next page, pass next_cursor as cursor, until it is null. Example: {"limit": 10}',
        annotations: READS,
        resultVersion: readPageVersion,
      },
    })
    .input(browseAppsRequest)
    .output(browseAppsResponse)
    .query(({ ctx, input }) => browseApps(ctx.service, ctx.caller, input)),
});
