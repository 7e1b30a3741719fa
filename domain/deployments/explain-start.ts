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
const SET_FOR_SERVERS = new Set(["NODE_ENV", "PORT", "HOST", "HOSTNAME", "DATABASE_URL", "SQLITE_PATH"]);
const WRANGLER_CONFIGS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/** How much of what an app printed an error quotes. */
const MAX_QUOTED_LINES = 3;
const MAX_QUOTED_LENGTH = 300;

/** Returns what a script reported when it failed, with the first lines that it printed, unless they are its message. */
export function describeStart({ message, printed }: UnhealthyScript): string {
  const other = printed.filter((line) => !message.includes(line)).slice(0, MAX_QUOTED_LINES);
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  if (other.length === 0) return sentence;
  return `${sentence} The app printed: ${JSON.stringify(other.join(" / ").slice(0, MAX_QUOTED_LENGTH))}`;
}

/**
 * Says which variables to set, if a script that failed seems to miss some: its messages name them, or a file of the source
 * names variables that the app does not have.
 *
 * @param bundle - the code that failed, and the folder of its source; `null` without source
 */
export async function adviseOnVariables(
  { variables }: Pick<StepDeps, "variables">,
  { deployment, workspace }: Pick<Attempt, "deployment" | "workspace">,
  error: UnhealthyScript,
  { code, rootDirectory }: { code: AppCode; rootDirectory: string | null },
): Promise<string | null> {
  const { values } = await variables.read(deployment.appId);
  const ofService = namesSetByService(code);
  const isUnset = (name: string) => !Object.hasOwn(values, name) && !ofService.has(name);
  const missing = findMissingVariables([...error.message.split("\n"), ...error.printed]).filter(isUnset);
  if (missing.length > 0) return adviseToSet(missing, "start");
  const unreachable = findUnreachable([error.message, ...error.printed]);
  if (unreachable !== null) return unreachable;
  const example = rootDirectory === null ? null : await readExample(workspace, rootDirectory);
  const names = example?.names.filter(isUnset) ?? [];
  if (example === null || names.length === 0) return null;
  const [what, pronoun] = names.length === 1 ? ["a variable that is", "it"] : ["variables that are", "them"];
  return `${example.file} names ${what} not set: ${formatNames(names)}. If the app needs ${pronoun}: ${adviseToSet(names, "start")}`;
}

function namesSetByService(code: AppCode): ReadonlySet<string> {
  if (code.runtime === "worker") return new Set();
  return new Set([...SET_FOR_SERVERS, ...Object.keys(code.server.postgres?.variables ?? {})]);
}

/** Servers that projects run beside themselves while they are developed, by their usual ports. */
const OTHER_SERVERS: Readonly<Record<string, readonly [name: string, variable: string]>> = {
  27017: ["MongoDB", "MONGODB_URI"],
  3306: ["MySQL", "DATABASE_URL"],
  6379: ["Redis", "REDIS_URL"],
  5672: ["RabbitMQ", "AMQP_URL"],
  9092: ["Kafka", "KAFKA_BROKERS"],
  9200: ["Elasticsearch", "ELASTICSEARCH_URL"],
};

/** What to do for a server that another program on its own machine refused. */
function findUnreachable(lines: readonly string[]): string | null {
  const text = lines.join("\n");
  const port = /ECONNREFUSED (?:127\.0\.0\.1|::1|localhost):(\d+)/.exec(text)?.[1] ?? "";
  const server = OTHER_SERVERS[port];
  if (server === undefined) return null;
  const [name, variable] = server;
  return `The app connects to ${name} at port ${port} of its own machine, where none runs. Use a ${name} server that is reachable from the internet, and set the variable that names it, such as ${variable}. Then deploy again.`;
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
