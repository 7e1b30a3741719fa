import path from "node:path";
import { z } from "zod";
import type { PlanLimits } from "../domain/plans/plans.ts";
import { type BuildEgress, buildEgress } from "./config/build-egress.ts";
import { type BuildLimits, buildLimitVariables, readBuildLimits } from "./config/build-limits.ts";
import { type CloudflareSettings, cloudflareVariables, readCloudflareSettings } from "./config/cloudflare-settings.ts";
import { ConfigError } from "./config/config-error.ts";
import type { EmbeddingsSettings } from "./drivers/embeddings/ai-sdk-embeddings.ts";
import type { ModelSettings } from "./drivers/language-model/ai-sdk-model.ts";
import {
  type EdgeClusterSettings,
  edgeClusterVariables,
  readEdgeClusterSettings,
} from "./config/edge-cluster-settings.ts";
import { embeddingsVariables, readEmbeddingsSettings } from "./config/embeddings-settings.ts";
import {
  type BuilderSettings,
  modelVariables,
  readBuilderSettings,
  readModelSettings,
} from "./config/model-settings.ts";
import { type BackupSettings, backupVariables, readBackupSettings } from "./config/backup-settings.ts";
import { readS3Settings, s3Variables } from "./config/s3-settings.ts";
import { readRoleSettings, type RoleSettings, roleVariables } from "./config/role-settings.ts";
import { pollSeconds } from "./config/poll-setting.ts";
import { DEFAULT_AGENT_HOST_PORTS, networks, portNumber, ports } from "./config/network-settings.ts";
import { BUILT_IN_PLANS, readPlansFile } from "./config/plans-file.ts";
import { requireTokenSecret } from "./config/token-secret.ts";
import type { S3Settings } from "./drivers/object-store/s3.ts";
import type { PortRange } from "./sandbox/public-address.ts";
import { url } from "./config/url-setting.ts";

const port = (fallback: number) => portNumber(3000).default(fallback);

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of: ${values.join(", ")}` });

const environment = z.object({
  NODE_ENV: z.string().default("development"),
  PORT: port(3000),
  HOST: z.string().min(1, "must be an address to listen on, such as 127.0.0.1").default("127.0.0.1"),
  EDGE_PORT: port(3001),
  PUBLIC_URL: url(["http:", "https:"], "https://apps.example.com")
    .refine((value) => /^https?:\/\/[^/?#@\s\\"]+\/?$/i.test(value), {
      error: "must have a host and nothing after it, such as https://apps.example.com",
    })
    .optional(),
  TRUSTED_PROXIES: networks,
  APPS_DOMAIN: z
    .string()
    .regex(/^[a-z0-9.-]+(:\d+)?$/i, "must be a host name with an optional port, such as apps.example.com")
    .optional(),
  DATA_DIR: z.string().min(1, "must be a folder, such as .data").default(".data"),
  DATABASE_URL: url(["postgres:", "postgresql:"], "postgres://user@127.0.0.1:5432/apps").optional(),
  DATABASE_POOL_SIZE: z
    .string()
    .regex(/^([5-9]|[1-9]\d{1,2})$/, "must be a whole number from 5 to 999, such as 10")
    .transform(Number)
    .default(10),
  APPS_DATABASE_URL: url(["postgres:", "postgresql:"], "postgres://user@127.0.0.1:5433/postgres").optional(),
  REDIS_URL: url(["redis:", "rediss:"], "redis://127.0.0.1:6379").optional(),
  GIT_POLL_SECONDS: pollSeconds,
  GIT_BASE_URL: url(["https:", "http:", "file:"], "https://github.com").default("https://github.com"),
  TOKEN_SECRET: z
    .string()
    .min(32, "must have 32 characters or more, such as the output of: openssl rand -hex 32")
    .optional(),
  SANDBOX: oneOf(["bubblewrap", "none"]).default("bubblewrap"),
  BUILD_EGRESS: buildEgress.prefault("fonts,prisma"),
  ...buildLimitVariables,
  AGENT_HOST_PRIVATE_NETWORKS: networks,
  GIT_PRIVATE_NETWORKS: networks,
  AGENT_HOST_PRIVATE_PORTS: ports.prefault(DEFAULT_AGENT_HOST_PORTS),
  EDGE_PLATFORM: oneOf(["embedded", "cloudflare"]).default("embedded"),
  ...cloudflareVariables,
  OBJECT_STORE: oneOf(["filesystem", "s3"]).default("filesystem"),
  ...roleVariables,
  ...edgeClusterVariables,
  ...s3Variables,
  ...backupVariables,
  ...modelVariables,
  ...embeddingsVariables,
  SIGN_UP: oneOf(["open", "invite", "closed"]).default("invite"),
  CLIENT_METADATA_DOCUMENTS: oneOf(["auto", "on", "off"]).default("auto"),
  GITHUB_CLIENT_ID: z.string().optional(),
  GITHUB_CLIENT_SECRET: z.string().optional(),
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  OIDC_ISSUER: url(["https:", "http:"], "https://id.example.com").optional(),
  OIDC_AUDIENCE: z.string().optional(),
  PLAN_DEFAULT: z.string().min(1, "must be the name of a plan, such as free").default("free"),
  PLANS_FILE: z.string().min(1, "must be a JSON file, such as plans.json").optional(),
  AUDIT_RETENTION_DAYS: z
    .string()
    .regex(/^\d{1,5}$/, "must be a whole number of days, such as 365, or 0 to keep audit events without limit")
    .transform(Number)
    .default(365),
  LOG_LEVEL: oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  BUILD_CONCURRENCY: z
    .string()
    .regex(/^[1-9]\d?$/, "must be a whole number from 1 to 99, such as 4")
    .transform(Number)
    .default(4),
  MAX_ACTIVE_APPS: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, "must be a whole number from 1 to 999, such as 40")
    .transform(Number)
    .default(40),
});

export interface Config extends RoleSettings, EdgeClusterSettings {
  production: boolean;
  host: string;
  port: number;
  edgePort: number;
  /** `null` when it is not configured. It then follows from the port that the service listens on. */
  publicUrl: string | null;
  /** Trusted proxy addresses or CIDR ranges: the service reads `X-Forwarded-For` from them only. */
  trustedProxies: readonly string[];
  appsDomain: string | null;
  /** The Cloudflare account in which apps run; `null` for apps that run on this machine. */
  cloudflare: CloudflareSettings | null;
  dataDirectory: string;
  databaseUrl: string | null;
  /** A PostgreSQL server for the databases of apps; `null` for one that the service starts. */
  appsDatabaseUrl: string | null;
  /** How many connections to the database the process shares among its requests. */
  databasePoolSize: number;
  redisUrl: string | null;
  /** The S3 object store; `null` for files in the data folder. */
  s3: S3Settings | null;
  backup: BackupSettings;
  gitBaseUrl: string;
  gitPollSeconds: number;
  /** `null` when it is not configured. The service then stores a generated one in its data folder, as it does its database. */
  tokenSecret: string | null;
  sandbox: "bubblewrap" | "none";
  buildEgress: BuildEgress;
  buildLimits: BuildLimits;
  /** Private networks, as addresses or CIDR ranges, in which the service connects to agent hosts, such as OpenClaw gateways. */
  agentHostNetworks: readonly string[];
  /** The private networks in which git hosts of organizations may be. */
  gitPrivateNetworks: readonly string[];
  /** The ports on which it connects to them there. */
  agentHostPorts: readonly PortRange[];
  defaultPlan: string;
  plans: Readonly<Record<string, PlanLimits>>;
  /** Who may sign up after the first user: everyone (`open`), users with an invitation (`invite`), or no one (`closed`). */
  signUp: "open" | "invite" | "closed";
  /**
   * Whether OAuth clients may publish their metadata at a URL instead of registering. The service then fetches it. With
   * `auto` the service offers this to clients only while it can reach the internet.
   */
  clientMetadataDocuments: "auto" | "on" | "off";
  social: Readonly<Record<"github" | "google", { clientId: string; clientSecret: string } | null>>;
  /** An external identity provider whose access tokens the service accepts in addition to its own. */
  oidc: { issuer: string; audience: string } | null;
  /** The language model that writes answers; `null` when none is configured. */
  model: ModelSettings | null;
  /** The app builder agent; `null` without a language model. */
  builder: BuilderSettings | null;
  /** The endpoint whose vectors let searches find texts by their meaning; `null` when none is configured. */
  embeddings: EmbeddingsSettings | null;
  /** Days until an audit event is deleted; `null` for never. */
  auditRetentionDays: number | null;
  logLevel: string;
  /** How many deployments run at the same time: at most as many as the memory of the machine suffices for. */
  buildConcurrency: number;
  maxActiveApps: number;
  /** The environment variables that npm reads its settings from, such as the registry and certificates. */
  npmEnvironment: Readonly<Record<string, string>>;
}

/**
 * Reads the configuration from the process's environment.
 *
 * @throws {ConfigError} that names each invalid variable
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Readonly<Config> {
  const parsed = environment.safeParse(removeEmpty(env));
  if (!parsed.success) throw toConfigError(parsed.error);
  const values = parsed.data;
  requireTokenSecret(values);
  const model = readModelSettings(values);
  const buildLimits = readBuildLimits(values);
  return Object.freeze({
    ...readRoleSettings(values),
    ...readEdgeClusterSettings(values),
    production: values.NODE_ENV === "production",
    host: values.HOST,
    port: values.PORT,
    edgePort: values.EDGE_PORT,
    publicUrl: values.PUBLIC_URL === undefined ? null : new URL(values.PUBLIC_URL).origin,
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    appsDomain: values.APPS_DOMAIN ?? null,
    cloudflare: readCloudflareSettings(values.EDGE_PLATFORM, values),
    dataDirectory: path.resolve(values.DATA_DIR),
    databaseUrl: values.DATABASE_URL ?? null,
    appsDatabaseUrl: values.APPS_DATABASE_URL ?? null,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    redisUrl: values.REDIS_URL ?? null,
    s3: readS3Settings(values.OBJECT_STORE, values),
    backup: readBackupSettings(values),
    gitBaseUrl: values.GIT_BASE_URL.replace(/(?<!\/)\/+$/, ""),
    gitPollSeconds: values.GIT_POLL_SECONDS,
    tokenSecret: values.TOKEN_SECRET ?? null,
    sandbox: values.SANDBOX,
    buildEgress: values.BUILD_EGRESS,
    buildLimits,
    agentHostNetworks: values.AGENT_HOST_PRIVATE_NETWORKS ?? [],
    gitPrivateNetworks: values.GIT_PRIVATE_NETWORKS ?? [],
    agentHostPorts: values.AGENT_HOST_PRIVATE_PORTS,
    defaultPlan: values.PLAN_DEFAULT,
    plans: readPlans(values.PLANS_FILE, values.PLAN_DEFAULT),
    signUp: values.SIGN_UP,
    clientMetadataDocuments: values.CLIENT_METADATA_DOCUMENTS,
    social: readSocialSettings(values),
    oidc: pair(values, "OIDC_ISSUER", "OIDC_AUDIENCE", (issuer, audience) => ({ issuer, audience })),
    model,
    builder: readBuilderSettings(model, values),
    embeddings: readEmbeddingsSettings(values),
    auditRetentionDays: values.AUDIT_RETENTION_DAYS === 0 ? null : values.AUDIT_RETENTION_DAYS,
    logLevel: values.LOG_LEVEL,
    buildConcurrency: buildLimits.concurrency,
    maxActiveApps: values.MAX_ACTIVE_APPS,
    npmEnvironment: selectNpmVariables(env),
  });
}

function toConfigError({ issues }: z.ZodError): ConfigError {
  return new ConfigError(issues.map((issue) => `${issue.path.join(".")} ${issue.message}`).join("\n"));
}

function readSocialSettings(values: z.infer<typeof environment>): Config["social"] {
  return {
    github: pair(values, "GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET", toOAuthClient),
    google: pair(values, "GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET", toOAuthClient),
  };
}

function toOAuthClient(clientId: string, clientSecret: string): { clientId: string; clientSecret: string } {
  return { clientId, clientSecret };
}

/** Combines two settings that are only valid together. */
function pair<K extends string, T>(
  values: Partial<Record<K, unknown>>,
  first: K,
  second: K,
  combine: (first: string, second: string) => T,
): T | null {
  const [a, b] = [values[first], values[second]];
  if (a === undefined && b === undefined) return null;
  if (typeof a === "string" && typeof b === "string") return combine(a, b);
  const [present, missing] = a === undefined ? [second, first] : [first, second];
  throw new ConfigError(`${missing} must be set too, because ${present} is`);
}

/** Removes empty variables: `PORT=` in an env file means "not set". */
function removeEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}

function readPlans(file: string | undefined, defaultPlan: string): Config["plans"] {
  const plans = { ...BUILT_IN_PLANS, ...(file === undefined ? {} : readPlansFile(file)) };
  if (!Object.hasOwn(plans, defaultPlan))
    throw new ConfigError(`PLAN_DEFAULT must be one of: ${Object.keys(plans).join(", ")}`);
  return plans;
}

const NPM_VARIABLES = /^(npm_config_.*|HOME|PATH|PREFIX|(HTTPS?|NO)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

function selectNpmVariables(env: NodeJS.ProcessEnv): Config["npmEnvironment"] {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => NPM_VARIABLES.test(entry[0]) && entry[1] !== undefined,
    ),
  );
}
