import { z } from "zod";
import { DEPLOYMENT_STATUSES } from "../domain/deployments/deployment-status.ts";
import { PUSH_RESULTS, PUSH_SOURCES } from "../domain/push-records/push-delivery.entity.ts";
import type { ConfigurePush } from "../domain/push-to-deploy/configure-push.ts";
import type { PushDeliveryView } from "../domain/push-to-deploy/list-deliveries.ts";
import type { PushSettings } from "../domain/push-to-deploy/push-endpoint-rules.ts";
import { timestampWithExample as timestamp } from "./core/common.schema.ts";

const id = z.uuid().meta({ description: "The app's id", examples: ["0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"] });

export const pushSettingsRequest = z.strictObject({ id });

export const configurePushRequest = z
  .strictObject({
    id,
    enabled: z.boolean().meta({ description: "Whether pushes deploy the app" }),
    branch: z
      .string()
      .nullable()
      .optional()
      .meta({ description: "The branch whose pushes deploy the app; null for the branch of the app" }),
    paths: z
      .array(z.string())
      .optional()
      .meta({
        description:
          "Only pushes that change a file that matches one of these patterns deploy the app, and none that matches a pattern with `!`. An empty list: every push does",
        examples: [["apps/web/**", "!**/*.md"]],
      }),
    statuses: z.boolean().optional().meta({
      description:
        "Whether commits show at the git host how their deployment goes. It needs a git connection whose token may write commit statuses; true at first",
    }),
    poll: z
      .boolean()
      .optional()
      .meta({ description: "Whether the service also looks for new commits, for git hosts that cannot reach it" }),
  })
  .meta({ id: "ConfigurePushRequest" }) satisfies z.ZodType<ConfigurePush>;

export const pushSettings = z
  .object({
    enabled: z.boolean(),
    url: z
      .string()
      .nullable()
      .meta({
        description: "The URL for the webhook of the repository; null until push to deploy is first switched on",
        examples: ["https://apps.example.com/hooks/git/7c0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"],
      }),
    secret: z
      .string()
      .nullable()
      .meta({ description: "The secret for the webhook, only in the response that created it; null otherwise" }),
    branch: z
      .string()
      .nullable()
      .meta({ description: "The branch whose pushes deploy the app; null for an app without a repository" }),
    paths: z.array(z.string()),
    statuses: z.boolean(),
    poll: z.boolean(),
  })
  .meta({ id: "PushSettings" }) satisfies z.ZodType<PushSettings>;

export const listPushDeliveriesRequest = z.strictObject({
  id,
  limit: z.int().min(1).max(100).default(30).meta({ description: "How many deliveries" }),
});

const delivery = z
  .object({
    id: z.uuid(),
    source: z.enum(PUSH_SOURCES).meta({ description: "The kind of git host; `poll` is the service itself" }),
    event: z.string().meta({ description: "The event, as the git host names it" }),
    ref: z.string().nullable().meta({ description: "What was pushed, such as refs/heads/main" }),
    commit: z.string().nullable(),
    message: z.string().nullable().meta({ description: "The first line of the commit message. It is text of others" }),
    result: z.enum(PUSH_RESULTS).meta({
      description: "`queued`: about to be deployed, or waiting for the deploy limit. `deployed`: see the deployment",
    }),
    reason: z.string().nullable().meta({ description: "Why there is no deployment" }),
    deployment: z
      .object({ id: z.uuid(), number: z.int(), status: z.enum(DEPLOYMENT_STATUSES) })
      .nullable()
      .meta({ description: "The deployment that it made; null without one, and when it has been removed" }),
    status_problem: z.string().nullable().meta({ description: "Why the git host does not show the status" }),
    created_at: timestamp,
  })
  .meta({ id: "PushDelivery" }) satisfies z.ZodType<PushDeliveryView>;

export const pushDeliveryList = z
  .object({ deliveries: z.array(delivery) })
  .meta({ id: "ListPushDeliveriesResponse" }) satisfies z.ZodType<{ deliveries: PushDeliveryView[] }>;
