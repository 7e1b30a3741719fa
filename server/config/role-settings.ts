import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { portNumber } from "./network-settings.ts";
import { url } from "./url-setting.ts";

/**
 * - `api`: responds to REST, the tool gateway and the dashboard
 * - `worker`: builds, deploys and deletes apps, and does what is due
 * - `edge`: runs the apps and serves their requests
 */
export const ROLES = ["api", "worker", "edge"] as const;
export type Role = (typeof ROLES)[number];

const isRole = (name: string): name is Role => (ROLES as readonly string[]).includes(name);

const roles = z.string().transform((text, context) => {
  const names = text.split(",").map((name) => name.trim());
  if (names.every(isRole)) return new Set(names);
  context.addIssue("must be a list of: api, worker, edge, such as api,worker");
  return z.NEVER;
});

export const roleVariables = {
  ROLES: roles.prefault(ROLES.join(",")),
  INTERNAL_PORT: portNumber(3002).optional(),
  EDGE_INTERNAL_URL: url(["https:"], "https://10.0.0.3:3002").optional(),
} as const;

export interface RoleSettings {
  /** What this process does. */
  roles: ReadonlySet<Role>;
  /** The port at which the edge of this process serves other processes; `null` if it does not. */
  internalPort: number | null;
  /** The edge of another process; `null` when this process is an edge. */
  edgeInternalUrl: string | null;
  /** Whether other processes of the installation may run beside this one. */
  isOneOfSeveral: boolean;
}

const SHARED = ["DATABASE_URL", "APPS_DATABASE_URL", "TOKEN_SECRET", "APPS_DOMAIN"] as const;

type SharedSettings = Partial<Record<(typeof SHARED)[number], string | undefined>> &
  Record<"OBJECT_STORE" | "EDGE_PLATFORM", string>;

type RoleVariables = z.infer<z.ZodObject<typeof roleVariables>>;

/** @throws {ConfigError} that names what the roles of several processes require */
export function readRoleSettings(values: RoleVariables & SharedSettings): RoleSettings {
  const { ROLES: own, INTERNAL_PORT: port, EDGE_INTERNAL_URL: edge } = values;
  const isEdge = own.has("edge");
  if (values.EDGE_PLATFORM === "cloudflare") return readWithoutEdge(values);
  if (isEdge && edge !== undefined)
    throw new ConfigError("EDGE_INTERNAL_URL must not be set for a process with the role edge: it is the edge.");
  if (!isEdge && port !== undefined)
    throw new ConfigError("INTERNAL_PORT needs the role edge: other processes reach the edge at this port.");
  if (!isEdge && edge === undefined)
    throw new ConfigError(
      "EDGE_INTERNAL_URL is required without the role edge: the INTERNAL_PORT of the process that runs the apps, such as https://10.0.0.3:3002",
    );
  if (isEdge && own.size < ROLES.length && port === undefined)
    throw new ConfigError("INTERNAL_PORT is required: the processes with the other roles reach the edge at this port.");
  const isOneOfSeveral = own.size < ROLES.length || port !== undefined;
  if (isOneOfSeveral) requireShared(values);
  return { roles: own, internalPort: port ?? null, edgeInternalUrl: edge ?? null, isOneOfSeveral };
}

/** Without an edge of the service, each process uses Cloudflare's API itself. */
function readWithoutEdge(values: RoleVariables & SharedSettings): RoleSettings {
  const { ROLES: roles, INTERNAL_PORT: port, EDGE_INTERNAL_URL: edge } = values;
  const isOneOfSeveral = roles.size < ROLES.length;
  if (isOneOfSeveral && roles.has("edge"))
    throw new ConfigError(
      "ROLES: with EDGE_PLATFORM=cloudflare, processes have the roles api, worker or api,worker, because Cloudflare runs the apps.",
    );
  if (port !== undefined || edge !== undefined)
    throw new ConfigError("INTERNAL_PORT and EDGE_INTERNAL_URL must not be set with EDGE_PLATFORM=cloudflare.");
  // Node servers do not run there, so their database server is needed for trials only, which each process has itself.
  if (isOneOfSeveral) requireShared({ ...values, APPS_DATABASE_URL: "" });
  return { roles, internalPort: null, edgeInternalUrl: null, isOneOfSeveral };
}

/** What all processes of an installation have in common. */
function requireShared(values: SharedSettings): void {
  const missing = SHARED.filter((name) => values[name] === undefined);
  const problems = [
    ...missing.map((name) => `${name} is required`),
    ...(values.OBJECT_STORE === "s3" ? [] : ["OBJECT_STORE must be s3"]),
  ];
  if (problems.length === 0) return;
  throw new ConfigError(
    `${problems.join(", and ")}, because several processes share them: see ROLES in docs/operations.md.`,
  );
}
