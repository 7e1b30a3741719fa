import { z } from "zod";
import { APP_STATUSES } from "../domain/apps/app-status.ts";
import type { AppDetail, AppSummary } from "../domain/apps/app-view.ts";
import type { AppPage } from "../domain/apps/app-page.ts";
import type { ListedApp } from "../domain/apps/list-apps.ts";
import type { DeployedApp } from "../domain/apps/deploy-app.ts";
import type { RotatedAppToken } from "../domain/apps/rotate-app-token.ts";
import type { UpdateApp } from "../domain/apps/update-app.ts";
import type { DeploymentLogView } from "../domain/deployments/read-deployment-log.ts";
import { RUNTIMES } from "../domain/ports/bundler.ts";
import type { Rotation } from "../domain/tokens/rotate-token.ts";
import { deployedArchive, deployedArchiveOfTool } from "./archives.schema.ts";
import { appOfTool, overlap, timestampWithExample as timestamp } from "./core/common.schema.ts";
import { environmentOfApp } from "./environments.schema.ts";
import { newVariable } from "./variables.schema.ts";

const uuid = z.uuid().meta({ examples: ["0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"] });
const token = z.string().meta({ description: "Bearer token for authenticated requests to the deployed app" });
const status = z.enum(APP_STATUSES).meta({ description: "Status of the newest deployment, or `deleting`" });
const slug = z.string().meta({ examples: ["guestbook-k7m2xq"] });
const statusMessage = z.string().nullable().meta({ description: "The current step, or what to do about a failure" });
const error = z.string().nullable().meta({ description: "Why the newest deployment failed" });
const url = z
  .url()
  .meta({ description: "Public URL of the app", examples: ["https://guestbook-k7m2xq.apps.example.com"] });

export const errorBody = z
  .object({ error: z.string().meta({ description: "What is wrong, and what is valid" }) })
  .meta({ id: "Error" });

const repository = z
  .string()
  .regex(/^[a-zA-Z0-9_.-]+\/[a-zA-Z0-9_.-]+$/, "must have the form owner/name, such as acme/site")
  .meta({ description: "The repository, as owner/name", examples: ["acme/site"] });

const rootDirectory = z.string().meta({
  description:
    "The folder of the app in a repository with several, relative to its root. By default the root, or the only package of a workspace that can be deployed",
  examples: ["apps/web"],
});

const buildNetwork = z.boolean().meta({
  description:
    "Whether the build script may connect to public addresses. Default false; true requires that the operator allows it",
});

const requestedRuntime = z.enum(RUNTIMES).meta({
  description:
    "How the app runs: as a Worker, or as a Node.js server with its start command. By default the build detects it",
});

const runtime = z.enum(RUNTIMES).nullable().meta({
  description:
    "How the live version runs, or before the first one the newest that was built; null before the first build",
});

const variables = z.array(newVariable).meta({
  description:
    "Environment variables of the app, which its first build and its first start have already. They last across its deployments",
});

const archiveOfApp = z
  .string()
  .nullable()
  .meta({ description: "The id of the archive that the next deployment deploys; null for an app from a repository" });

const repoOfApp = z
  .string()
  .nullable()
  .meta({ description: "The repository, as owner/name; null for an app that is deployed from archives" });

const branchOfApp = z.string().nullable().meta({
  description: "The branch that a deployment without one deploys; null for an app without a repository",
});

const host = z
  .string()
  .max(300)
  .meta({
    description:
      "The git host, if more than one has the repository: the service's own, or one that the organization has connected",
    examples: ["gitlab.com"],
  });

export const gitHost = z
  .string()
  .nullable()
  .meta({ description: "The connected git host that has the repository; null for the service's own" });

export const deployRequest = z
  .strictObject({
    repo: repository.optional(),
    ...deployedArchive,
    name: z
      .string()
      .optional()
      .meta({
        description: "A name for people, in one line; default: that of the repository, or app",
        examples: ["Shop"],
      }),
    host: host.optional(),
    branch: z.string().optional().meta({
      description: "The branch to deploy; default `main`, or the repository's default branch if it has no `main`",
    }),
    customization: z.string().optional().meta({
      description:
        "Instructions in natural language for the app builder agent, which changes the source before the build",
    }),
    root_directory: rootDirectory.optional(),
    build_network: buildNetwork.optional(),
    runtime: requestedRuntime.optional(),
    variables: variables.optional(),
  })
  .meta({ id: "DeployRequest", examples: [{ repo: "acme/site" }] });

export const deployResponse = z
  .object({ app_id: uuid, slug, app_token: token, url })
  .meta({ id: "DeployResponse" }) satisfies z.ZodType<DeployedApp>;

const appSummary = z.object({
  id: uuid,
  name: z.string(),
  slug,
  ...environmentOfApp,
  status,
  status_message: statusMessage,
  runtime,
  created_at: timestamp,
  updated_at: timestamp,
  app_token: token,
}) satisfies z.ZodType<AppSummary>;

const listedApp = appSummary
  .extend({
    url,
    repo: repoOfApp,
    branch: branchOfApp,
    framework: z.string().nullable().meta({ description: "Framework of the app; null before the first build" }),
  })
  .meta({ id: "AppSummary" }) satisfies z.ZodType<ListedApp>;

export const listAppsResponse = z.object({ apps: z.array(listedApp) }).meta({ id: "ListAppsResponse" });

const manifest = z
  .object({
    sql_database_id: z.string().optional().meta({ description: "Identifier of the app's SQL database" }),
    object_bucket_name: z.string().optional().meta({ description: "Name of the app's object-storage bucket" }),
    framework: z.string().optional().meta({ description: "Framework of the app" }),
  })
  .meta({ id: "Manifest" });

export const appDetail = z
  .object({
    id: uuid,
    user_id: uuid.optional(),
    org_id: uuid,
    created_by: uuid.optional(),
    name: z.string(),
    slug,
    ...environmentOfApp,
    status,
    status_message: statusMessage,
    error,
    runtime,
    created_at: timestamp,
    updated_at: timestamp,
    app_token: token,
    manifest: manifest.nullable(),
    url,
    repo: repoOfApp,
    host: gitHost,
    branch: branchOfApp,
    archive: archiveOfApp,
    root_directory: z
      .string()
      .nullable()
      .meta({ description: "The folder that the next deployment builds; null to find it", examples: ["apps/web"] }),
    build_network: z.boolean().meta({ description: "Whether the build script may connect to public addresses" }),
    requested_runtime: z
      .enum(RUNTIMES)
      .nullable()
      .meta({ description: "How the next deployment has to run; null to detect it" }),
    latest_deployment_id: uuid.meta({
      description:
        "The deployment whose status the app shows: the newest one that was not canceled while it waited for another",
    }),
    live_deployment_id: uuid
      .nullable()
      .meta({ description: "The deployment that serves requests; null before the first one is ready" }),
  })
  .meta({ id: "AppDetail" }) satisfies z.ZodType<AppDetail>;

export const logsResponse = z
  .object({
    status,
    status_message: statusMessage,
    error,
    logs: z
      .string()
      .nullable()
      .meta({ description: "Raw log of the newest deployment; null when none exists in object storage" }),
  })
  .meta({ id: "LogsResponse" }) satisfies z.ZodType<DeploymentLogView>;

export const appId = z.object({ id: uuid.meta({ description: "The app's id" }) });

export const appOfToolRequest = z.strictObject({ app_id: appOfTool });

export const updateAppRequest = z
  .strictObject({
    id: uuid.meta({ description: "The app's id" }),
    name: z
      .string()
      .optional()
      .meta({ description: "A name for people, in one line", examples: ["Shop"] }),
    branch: z.string().optional().meta({ description: "The branch that a deployment without one deploys" }),
    root_directory: rootDirectory.nullable().optional(),
    build_network: buildNetwork.optional(),
    runtime: requestedRuntime.nullable().optional(),
  })
  .meta({ id: "UpdateAppRequest" }) satisfies z.ZodType<UpdateApp>;

export const rotateAppTokenRequest = z.strictObject({
  id: uuid.meta({ description: "The app's id" }),
  overlap,
}) satisfies z.ZodType<Rotation>;

export const rotateAppTokenResponse = z
  .object({
    app_token: token,
    expires_previous_at: timestamp
      .nullable()
      .meta({ description: "When the previous token expires; null when it has expired already" }),
  })
  .meta({ id: "RotateAppTokenResponse" }) satisfies z.ZodType<RotatedAppToken>;

export const browseAppsRequest = z.strictObject({
  limit: z.int().min(1).max(100).default(50).meta({ description: "Maximum number of apps to return" }),
  cursor: z.string().max(200).optional().meta({ description: "next_cursor of the previous page" }),
});

/**
 * Omits descriptions that an agent does not need, because an agent reads all descriptions with every list of the tools.
 */
const appOverview = appSummary
  .omit({ app_token: true })
  .extend({
    environment: z.string().nullable(),
    parent_id: z.string().nullable(),
    status: z.enum(APP_STATUSES),
    runtime: z.enum(RUNTIMES).nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    url: z.url(),
    procedure_count: z.int().nonnegative().meta({ description: "Procedures that can be called now" }),
  })
  .meta({ id: "AppOverview" });

export const browseAppsResponse = z.object({
  apps: z.array(appOverview),
  next_cursor: z.string().nullable(),
}) satisfies z.ZodType<AppPage>;

export const deployToolRequest = z.strictObject({
  repo: z
    .string()
    .optional()
    .meta({ description: "The repository, as owner/name or as its URL at the git host", examples: ["acme/site"] }),
  ...deployedArchiveOfTool,
  name: z.string().optional(),
  host: z.string().max(300).optional().meta({ description: "The git host, if more than one has the repository" }),
  branch: z.string().optional().meta({ description: "The branch to deploy; default main" }),
  customization: z.string().optional().meta({
    description: "What the app builder agent should change in the source before the build; needs a language model",
  }),
  root_directory: rootDirectory.meta({ description: "The folder of the app in a repository with several" }).optional(),
  build_network: buildNetwork.optional(),
  runtime: z.enum(RUNTIMES).optional().meta({ description: "How the app runs; by default the build detects it" }),
  variables: variables.meta({ description: "Environment variables of the app" }).optional(),
});

/** For skills and sources of knowledge too. */
export const requestedHost = host;

export const deployToolResponse = z.object({ app_id: z.uuid(), slug: z.string(), url: z.url() });
