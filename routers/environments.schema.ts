import { z } from "zod";
import { APP_STATUSES } from "../domain/apps/app-status.ts";
import type { CreateEnvironment } from "../domain/environments/create-environment.ts";
import type { EnvironmentView } from "../domain/environments/list-environments.ts";
import type { PromoteApp } from "../domain/environments/promote-app.ts";
import { appOfTool, timestampWithExample as timestamp } from "./core/common.schema.ts";
import { newVariable } from "./variables.schema.ts";

const uuid = z.uuid().meta({ examples: ["0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"] });
const id = uuid.meta({ description: "The app's id" });
const deploymentNumber = z.int().min(1).max(999_999_999);

/** What every app says about its environment. */
export const environmentOfApp = {
  environment: z
    .string()
    .nullable()
    .meta({ description: "The name of the environment; null for a production app", examples: ["staging"] }),
  parent_id: uuid.nullable().meta({ description: "The production app of an environment; null for a production app" }),
};

export const createEnvironmentRequest = z
  .strictObject({
    id: uuid.meta({ description: "The id of the production app" }),
    name: z.string().meta({
      description: "The name: 1 to 32 characters of a-z, 0-9 and -. `production` is the app itself",
      examples: ["staging"],
    }),
    branch: z
      .string()
      .optional()
      .meta({ description: "The branch to deploy; by default that of the app", examples: ["next"] }),
    copy_variables: z.boolean().optional().meta({
      description: "Whether the environment gets a copy of the app's variables, with secret ones; default true",
    }),
    variables: z
      .array(newVariable)
      .optional()
      .meta({ description: "Variables of the environment, which replace copied ones of the same name" }),
  })
  .meta({ id: "CreateEnvironmentRequest" }) satisfies z.ZodType<CreateEnvironment>;

export const environment = z
  .object({
    name: z.string().meta({ description: "`production`, or the name of the environment", examples: ["staging"] }),
    app_id: uuid.meta({ description: "The id of the environment, which is an app" }),
    slug: z.string(),
    url: z.url(),
    status: z.enum(APP_STATUSES).meta({ description: "Status of the newest deployment, or `deleting`" }),
    status_message: z.string().nullable(),
    branch: z.string().nullable().meta({ description: "null for an app without a repository" }),
    live_deployment: deploymentNumber
      .nullable()
      .meta({ description: "The number of the deployment that serves requests; null before the first one is ready" }),
    live_commit: z.string().nullable().meta({ description: "The commit of this deployment" }),
    created_at: timestamp,
  })
  .meta({ id: "Environment" }) satisfies z.ZodType<EnvironmentView>;

export const listEnvironmentsRequest = z.strictObject({ id });

export const environmentList = z
  .object({ environments: z.array(environment) })
  .meta({ id: "ListEnvironmentsResponse" }) satisfies z.ZodType<{ environments: EnvironmentView[] }>;

const from = z.string().meta({
  description: "The environment whose live deployment is promoted: a name, or `production`",
  examples: ["staging"],
});

export const promoteRequest = z
  .strictObject({
    id: uuid.meta({ description: "The id of the app that gets the code, mostly the production app" }),
    from,
    number: deploymentNumber.optional().meta({
      description: "The number of the deployment to promote. If another one is live there by then, the call fails",
    }),
  })
  .meta({ id: "PromoteRequest" }) satisfies z.ZodType<PromoteApp>;

export const promoteToolRequest = z.strictObject({
  app_id: appOfTool,
  from: z.string().meta({ description: "The name of the environment, such as staging" }),
});
