import { z } from "zod";
import { MAX_EDGES } from "../platforms/remote/edge-methods.ts";
import { ConfigError } from "./config-error.ts";
import { portNumber } from "./network-settings.ts";

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

const edgeUrls = z.string().transform((text, context) => {
  const urls = text.split(",").map((each) => each.trim());
  const problem = findUrlProblem(urls);
  if (problem === null) return urls;
  context.addIssue(problem);
  return z.NEVER;
});

function findUrlProblem(texts: readonly string[]): string | null {
  if (texts.includes("")) return "has an empty entry: separate the URLs of edges by one comma";
  const urls = texts.map((text) => URL.parse(text));
  const wrong = urls.findIndex(
    (url) => url === null || `${url.protocol}//${url.host}/` !== url.href || url.protocol !== "https:",
  );
  if (wrong !== -1)
    return `must have https:// with a host and a port for each edge, such as https://10.0.0.5:3002,https://10.0.0.6:3002; entry ${wrong + 1} has not`;
  const hosts = urls.map((url) => url?.hostname);
  const repeated = hosts.find((host, index) => hosts.indexOf(host) !== index);
  // Apps are reached at the same host, and at EDGE_PORT, which all edges have in common.
  if (repeated !== undefined) return `has the host ${repeated} twice: each edge has an address of its own`;
  return urls.length > MAX_EDGES ? `must name at most ${MAX_EDGES} edges` : null;
}

export const roleVariables = {
  ROLES: roles.prefault(ROLES.join(",")),
  INTERNAL_PORT: portNumber(3002).optional(),
  EDGE_INTERNAL_URL: edgeUrls.optional(),
  DRAIN_SECONDS: z
    .string()
    .regex(/^(\d|[1-9]\d|[12]\d\d|300)$/, "must be a whole number of seconds from 0 to 300, such as 5")
    .transform(Number)
    .optional(),
} as const;

export interface RoleSettings {
  /** What this process does. */
  roles: ReadonlySet<Role>;
  /** The port at which the edge of this process serves other processes; `null` if it does not. */
  internalPort: number | null;
  /** The edges of other processes; none when this process is an edge. The first is preferred until it cannot be reached. */
  edgeInternalUrls: readonly string[];
  /** Whether other processes of the installation may run beside this one. */
  isOneOfSeveral: boolean;
  /** How long the process serves requests after `SIGTERM`, while load balancers learn that it is not ready. */
  drainSeconds: number;
}

const DRAIN_SECONDS = 5;

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
  // A worker gets no requests, and without other processes there is none that could serve them.
  const isBalanced = isOneOfSeveral && (own.has("api") || isEdge);
  const drainSeconds = drainSecondsOf(values, isBalanced);
  return { roles: own, internalPort: port ?? null, edgeInternalUrls: edge ?? [], isOneOfSeveral, drainSeconds };
}

function drainSecondsOf({ DRAIN_SECONDS: seconds }: RoleVariables, isBalanced: boolean): number {
  return seconds ?? (isBalanced ? DRAIN_SECONDS : 0);
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
  const drainSeconds = drainSecondsOf(values, isOneOfSeveral && roles.has("api"));
  return { roles, internalPort: null, edgeInternalUrls: [], isOneOfSeveral, drainSeconds };
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
