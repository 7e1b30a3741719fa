import { configurePush, getPushSettings, rotatePushSecret } from "../domain/push-to-deploy/configure-push.ts";
import { listPushDeliveries } from "../domain/push-to-deploy/list-deliveries.ts";
import { procedure, router } from "./core/trpc.ts";
import {
  configurePushRequest,
  listPushDeliveriesRequest,
  pushDeliveryList,
  pushSettings,
  pushSettingsRequest,
} from "./push-deploy.schema.ts";

const tags = ["Push to deploy"];
const access = { scope: "deploy" } as const;
const noApp = "No such app in the organization";

export const pushDeploy = router({
  get: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}/push-deploy",
        tags,
        summary: "Get how pushes deploy an app",
        successDescription: "The settings, without the secret",
        errorResponses: { 404: noApp },
      },
    })
    .input(pushSettingsRequest)
    .output(pushSettings)
    .query(({ ctx, input }) => getPushSettings(ctx.service, ctx.caller, input.id)),

  set: procedure
    .meta({
      access,
      openapi: {
        method: "PUT",
        path: "/v1/apps/{id}/push-deploy",
        tags,
        summary: "Set how pushes deploy an app",
        description:
          "Lets every push to the branch deploy the app. The first call returns the URL and the secret for a webhook of the repository. The secret is not shown again. Omitted fields keep their values. Switching it off keeps the URL and the secret.",
        successDescription: "The settings, with the secret if this call created it",
        errorResponses: {
          400: "The branch or a path is invalid",
          404: noApp,
          409: "The app is being deleted, or has no repository",
        },
      },
    })
    .input(configurePushRequest)
    .output(pushSettings)
    .mutation(({ ctx, input }) => configurePush(ctx.service, ctx.caller, input)),

  rotateSecret: procedure
    .meta({
      access,
      openapi: {
        method: "POST",
        path: "/v1/apps/{id}/push-deploy/rotate-secret",
        tags,
        summary: "Replace the secret of an app's webhook",
        description: "Deliveries that are signed with the previous secret are refused from now on.",
        successDescription: "The settings with the new secret",
        errorResponses: { 404: noApp, 409: "Push to deploy was never switched on, or the app is being deleted" },
      },
    })
    .input(pushSettingsRequest)
    .output(pushSettings)
    .mutation(({ ctx, input }) => rotatePushSecret(ctx.service, ctx.caller, input.id)),

  deliveries: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}/push-deliveries",
        tags,
        summary: "List the pushes to an app's repository",
        description:
          "What git hosts have reported for the app in the last 30 days, newest first, and what became of it.",
        successDescription: "The deliveries",
        errorResponses: { 404: noApp },
      },
    })
    .input(listPushDeliveriesRequest)
    .output(pushDeliveryList)
    .query(({ ctx, input }) => listPushDeliveries(ctx.service, ctx.caller, input)),
});
