import { createEnvironment } from "../domain/environments/create-environment.ts";
import { listEnvironments } from "../domain/environments/list-environments.ts";
import { promoteApp } from "../domain/environments/promote-app.ts";
import { STARTS_DEPLOYMENT } from "./core/tool-annotations.ts";
import { deployProcedure, procedure, restartProcedure, router } from "./core/trpc.ts";
import { deployment, startedDeployment } from "./deployments.schema.ts";
import { presentStarted } from "./deployments.ts";
import {
  createEnvironmentRequest,
  environment,
  environmentList,
  listEnvironmentsRequest,
  promoteRequest,
  promoteToolRequest,
} from "./environments.schema.ts";

const tags = ["Environments"];
const noApp = "No such app in the organization";

export const environments = router({
  create: deployProcedure
    .meta({
      access: { scope: "deploy" },
      isRepeatable: true,
      openapi: {
        method: "POST",
        path: "/v1/apps/{id}/environments",
        tags,
        summary: "Create an environment of an app",
        description:
          "Creates an app with the source and the settings of this one, but with its own branch, variables, URL, token and database, and starts its first deployment. All operations on apps work with its `app_id`, and it counts as an app of the plan. By default it gets a copy of the variables, with secret ones: send `variables` for what must differ. Repeating a call with the same `Idempotency-Key` returns the environment of the first call. Every other attempt counts against the deploy limit, whatever its result.",
        successStatus: 201,
        successDescription: "The environment, whose deployment has started",
        errorResponses: {
          400: "The request is invalid",
          403: "The plan limit is exceeded, the scope is insufficient, or the user is a member of no organization",
          404: noApp,
          409: "The app has an environment with this name, is one itself, or is being deleted, or a variable cannot be copied",
          422: "The Idempotency-Key was used for a different request",
          429: "The organization has reached its deploy limit, or the client's network has sent too many invalid tokens",
        },
      },
    })
    .input(createEnvironmentRequest)
    .output(environment)
    .mutation(({ ctx, input }) => createEnvironment(ctx.service, ctx.caller, input, ctx.idempotencyKey)),

  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}/environments",
        tags,
        summary: "List the environments of an app",
        description:
          "The app itself as `production`, and its other environments by name. The id of an environment selects the same list.",
        successDescription: "The environments",
        errorResponses: { 404: noApp },
      },
    })
    .input(listEnvironmentsRequest)
    .output(environmentList)
    .query(({ ctx, input }) => listEnvironments(ctx.service, ctx.caller, input.id)),

  promote: restartProcedure
    .meta({
      access: { scope: "deploy" },
      isRepeatable: true,
      openapi: {
        method: "POST",
        path: "/v1/apps/{id}/promote",
        tags,
        summary: "Promote an environment to an app",
        description:
          "Starts a deployment of this app from the bundle that is live in another environment of it, without a build. The app keeps its branch, variables and data, and migrations of the bundle are applied to its SQL database. What the build wrote into the bundle stays: `status_message` names variables for builds that differ. Repeating a call with the same `Idempotency-Key` returns the deployment of the first call.",
        successStatus: 201,
        successDescription: "The promotion has started",
        errorResponses: {
          400: "The request is invalid",
          403: "The plan limit is exceeded, the scope is insufficient, or the user is a member of no organization",
          404: "No such app in the organization, or the app has no such environment",
          409: "Nothing is live in the environment, another deployment is, this app serves it already, or an app is being deleted",
          422: "The Idempotency-Key was used for a different request",
          429: "The organization changes variables, rolls back or promotes too often, or the client's network has sent too many invalid tokens",
        },
      },
      tool: {
        name: "service_promote_app",
        title: "Promote an environment",
        description:
          'Deploys to an app what is live in another environment of it, without a build. The app keeps its variables and data; migrations are applied. An environment is an app too, with the parent_id of its production app. Example: {"app_id": "shop-k7m2xq", "from": "staging"}',
        annotations: STARTS_DEPLOYMENT,
        arguments: promoteToolRequest,
        fields: { app_id: "id" },
        result: startedDeployment,
        present: presentStarted,
      },
    })
    .input(promoteRequest)
    .output(deployment)
    .mutation(({ ctx, input }) => promoteApp(ctx.service, ctx.caller, input, ctx.idempotencyKey)),
});
