import path from "node:path";
import type { AppCode } from "../ports/bundler.ts";
import type { UnhealthyScript } from "../ports/edge-platform.ts";
import type { Workspace } from "../ports/temporary-workspaces.ts";
import { adviseToSet, findMissingVariables, formatNames, readAssignedNames } from "../shared/missing-variables.ts";
import type { Attempt, StepDeps } from "./deployment-attempt.ts";

/** Files in which projects name the variables that they need. */
const EXAMPLES = [
  ...[".env.example", ".env.sample", ".env.template", ".dev.vars.example", "example.env", ".env.dist", "env.example"],
  ...["env-example", "env-example-relational", ".env.local.example", ".env.production.example"],
];
/** Variables that every Node server has. */
const SET_FOR_SERVERS = new Set([
  ...["NODE_ENV", "PORT", "HOST", "HOSTNAME", "DATABASE_URL", "SQLITE_PATH", "APP_URL"],
  ...[
    "AUTH_TRUST_HOST",
    "NEXTAUTH_URL",
    "NEXTAUTH_URL_INTERNAL",
    "BETTER_AUTH_URL",
    "PROTOCOL_HEADER",
    "ADDRESS_HEADER",
  ],
]);
const WRANGLER_CONFIGS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/** How much of what an app printed an error quotes. */
const MAX_QUOTED_LINES = 3;
const MAX_QUOTED_LENGTH = 300;

/** Lines in which npm and nodemon repeat what they run. */
const SCRIPT_LINE = /^(> |\[nodemon\] )/;

/**
 * Returns what a script reported when it failed, with the first lines that it printed, unless they are its message. Of a message that ends
 * with a colon, the lines that follow it.
 */
export function describeStart({ message, printed }: UnhealthyScript): string {
  const at = message.endsWith(":") ? printed.findIndex((line) => message.endsWith(line)) : -1;
  const other = printed.slice(at + 1).filter((line) => !message.includes(line) && !SCRIPT_LINE.test(line));
  const sentence = /[.!?]$/.test(message) ? message : `${message.replace(/:$/, "")}.`;
  if (other.length === 0) return sentence;
  const quoted = other.slice(0, MAX_QUOTED_LINES).join(" / ").slice(0, MAX_QUOTED_LENGTH);
  return `${sentence} The app printed: ${JSON.stringify(quoted)}`;
}

/**
 * Says which variables to set, if a script that failed seems to miss some: its messages name them, or a file of the source
 * names variables that the app does not have.
 *
 * @param bundle - the code that failed, and the folder of its source; `null` without source
 */
export async function adviseOnVariables(
  deps: Pick<StepDeps, "variables">,
  { deployment, workspace }: Pick<Attempt, "deployment" | "workspace">,
  error: UnhealthyScript,
  { code, rootDirectory }: { code: AppCode; rootDirectory: string | null },
): Promise<string | null> {
  const lines = [error.message, ...error.printed];
  if (lines.some((line) => BUN_ERROR.test(line))) return NEEDS_BUN;
  const isUnset = await unsetVariables(deps, deployment, code);
  const missing = findMissingVariables([...error.message.split("\n"), ...error.printed]).filter(isUnset);
  if (missing.length > 0) return adviseToSet(missing, "start");
  const privileged = PRIVILEGED_PORT.exec(lines.join("\n"))?.[1];
  if (privileged !== undefined) return adviseOnPort(privileged);
  const example = rootDirectory === null ? null : await readExample(workspace, rootDirectory);
  const unreachable = findUnreachable(lines, example?.names.filter(isUnset) ?? []);
  if (unreachable !== null) return unreachable;
  return example === null ? null : describeExample(example.file, example.names.filter(isUnset));
}

/** Says which variables an example of the source names and the app does not have; `null` if there are none. */
export async function describeUnsetExample(
  deps: Pick<StepDeps, "variables">,
  { deployment, workspace }: Pick<Attempt, "deployment" | "workspace">,
  { code, rootDirectory }: { code: AppCode; rootDirectory: string },
): Promise<string | null> {
  const example = await readExample(workspace, rootDirectory);
  if (example === null) return null;
  return describeExample(example.file, example.names.filter(await unsetVariables(deps, deployment, code)));
}

function describeExample(file: string, names: readonly string[]): string | null {
  if (names.length === 0) return null;
  const [what, subject] =
    names.length === 1
      ? ["a variable that is", "it if the app needs it"]
      : ["variables that are", "those that the app needs"];
  return `${file} names ${what} not set: ${formatNames(names)}. ${adviseToSet(names, "start", subject)}`;
}

/** The variables that an app misses, as what it printed names them. */
export async function findUnsetVariables(
  deps: Pick<StepDeps, "variables">,
  { deployment }: Pick<Attempt, "deployment">,
  printed: readonly string[],
  code: AppCode,
): Promise<string[]> {
  const names = findMissingVariables(printed);
  return names.length === 0 ? [] : names.filter(await unsetVariables(deps, deployment, code));
}

async function unsetVariables(
  { variables }: Pick<StepDeps, "variables">,
  { appId }: Attempt["deployment"],
  code: AppCode,
): Promise<(name: string) => boolean> {
  const { values } = await variables.read(appId);
  const ofService = namesSetByService(code);
  return (name) => !Object.hasOwn(values, name) && !ofService.has(name);
}

/** What Node.js says about code that uses the globals and modules of Bun. */
const BUN_ERROR =
  /\bBun is not defined\b|Received protocol 'bun:'|Cannot find (?:package|module) 'bun(?::\w+)?'|WebStandard does not support listen/;
const NEEDS_BUN =
  "The app uses APIs that only Bun has (Bun.…, bun:…). Servers run in Node.js, also those that start with bun. Replace these APIs, such as Bun.serve by node:http or a framework for Node.js, and bun:sqlite by node:sqlite. Then deploy again.";

function namesSetByService(code: AppCode): ReadonlySet<string> {
  if (code.runtime === "worker") return new Set();
  return new Set([...SET_FOR_SERVERS, ...Object.keys(code.server.postgres?.variables ?? {})]);
}

/** What Node.js says about a port below 1024. */
const PRIVILEGED_PORT = /\blisten EACCES: permission denied \S*:(\d{1,4})\b/;

function adviseOnPort(port: string): string {
  return `The server listens on port ${port}, which only root can use. Let it listen on the port of the variable PORT, as in app.listen(process.env.PORT). In a start command such as next start -p ${port}, leave the port out. Then deploy again.`;
}

interface OtherServer {
  name: string;
  /** A variable that commonly names it. */
  variable: string;
  /** Names of variables with its address. */
  names: RegExp;
}

const ADDRESS = "(UR[IL]|HOST(NAME)?|DSN|ADDR(ESS)?|BROKERS?|PORT|USER(NAME)?|PASS(WORD)?|DATABASE|DB|NAME)$";
const addressOf = (prefix: string) => new RegExp(`^(${prefix}).*${ADDRESS}`);

/** Servers that projects run beside themselves while they are developed, by their usual ports. */
const OTHER_SERVERS: Readonly<Record<string, OtherServer>> = {
  27017: { name: "MongoDB", variable: "MONGODB_URI", names: addressOf("MONGO|DB_|DATABASE_") },
  3306: { name: "MySQL", variable: "DATABASE_URL", names: addressOf("MYSQL|MARIADB|DB_|DATABASE_") },
  6379: { name: "Redis", variable: "REDIS_URL", names: addressOf("REDIS|CACHE_") },
  5672: { name: "RabbitMQ", variable: "AMQP_URL", names: addressOf("AMQP|RABBIT") },
  9092: { name: "Kafka", variable: "KAFKA_BROKERS", names: addressOf("KAFKA") },
  9200: { name: "Elasticsearch", variable: "ELASTICSEARCH_URL", names: addressOf("ELASTIC") },
};

/** What Node.js says about the name of a host that has no address. */
const UNKNOWN_HOST = /\b(?:ENOTFOUND|EAI_AGAIN):? ([a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?)\b/i;

/** What to do for a host without an address, or a server that another program on its own machine refused. */
function findUnreachable(lines: readonly string[], unset: readonly string[]): string | null {
  const text = lines.join("\n");
  const host = UNKNOWN_HOST.exec(text)?.[1];
  if (host !== undefined)
    return `The app could not find the host ${host}. It reaches hosts with a public address only. Correct the name of the host, or the variable that it comes from, and deploy again.`;
  const port = /ECONNREFUSED (?:127\.0\.0\.1|::1|localhost):(\d+)/.exec(text)?.[1] ?? "";
  const server = OTHER_SERVERS[port];
  if (server === undefined) return null;
  const { name, variable, names } = server;
  const reason = `The app connects to ${name} at port ${port} of its own machine, where none runs. Use a ${name} server that is reachable from the internet`;
  const named = unset.filter((each) => names.test(each));
  if (named.length > 0) return `${reason}. ${adviseToSet(named, "start")}`;
  return `${reason}, and set the variable that names it, such as ${variable}. If the address is in the code, let the code read it from this variable. Then deploy again.`;
}

/** The variables that an example names, without those that the wrangler configuration declares. */
async function readExample(workspace: Workspace, folder: string): Promise<{ file: string; names: string[] } | null> {
  for (const file of EXAMPLES) {
    const text = await workspace.readSourceText(path.posix.join(folder, file));
    if (typeof text !== "string") continue;
    const configs = await Promise.all(
      WRANGLER_CONFIGS.map((name) => workspace.readSourceText(path.posix.join(folder, name))),
    );
    return { file, names: readAssignedNames(text).filter((name) => !configs.some((config) => config?.includes(name))) };
  }
  return null;
}
