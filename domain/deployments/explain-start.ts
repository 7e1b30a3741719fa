import path from "node:path";
import type { UnhealthyScript } from "../ports/edge-platform.ts";
import type { Workspace } from "../ports/temporary-workspaces.ts";
import { adviseToSet, findMissingVariables, formatNames, readAssignedNames } from "../shared/missing-variables.ts";
import type { Attempt, StepDeps } from "./deployment-attempt.ts";

/** Files in which projects name the variables that they need. */
const EXAMPLES = [".env.example", ".env.sample", ".env.template", ".dev.vars.example", "example.env"];
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
 * @param folder - the folder of the source that was built; `null` for a deployment without source
 */
export async function adviseOnVariables(
  { variables }: Pick<StepDeps, "variables">,
  { deployment, workspace }: Pick<Attempt, "deployment" | "workspace">,
  error: UnhealthyScript,
  folder: string | null,
): Promise<string | null> {
  const { values } = await variables.read(deployment.appId);
  const isUnset = (name: string) => !Object.hasOwn(values, name);
  const missing = findMissingVariables([...error.message.split("\n"), ...error.printed]).filter(isUnset);
  if (missing.length > 0) return adviseToSet(missing, "start");
  const example = folder === null ? null : await readExample(workspace, folder);
  const names = example?.names.filter(isUnset) ?? [];
  if (example === null || names.length === 0) return null;
  const [what, pronoun] = names.length === 1 ? ["a variable that is", "it"] : ["variables that are", "them"];
  return `${example.file} names ${what} not set: ${formatNames(names)}. If the app needs ${pronoun}: ${adviseToSet(names, "start")}`;
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
