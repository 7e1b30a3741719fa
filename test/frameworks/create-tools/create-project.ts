import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";
import type { Template } from "./templates.ts";

const TIME_LIMIT_MS = 300_000;
/** Variables that npm sets for the scripts of this project. The tools would take them for those of theirs. */
const OWN_NPM_VARIABLES =
  /^npm_(package|lifecycle|command|execpath|node_execpath|config_(local_prefix|prefix|user_agent))/;

/** The create tool wrote no project. `message` is the line of its output that says why. */
export class ToolFailed extends Error {}

/** The environment of the create tools: without a terminal, and with a home folder of their own. */
function environment(home: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !OWN_NPM_VARIABLES.test(name));
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    CI: "1",
    NO_COLOR: "1",
    DO_NOT_TRACK: "1",
    WRANGLER_SEND_METRICS: "false",
    NEXT_TELEMETRY_DISABLED: "1",
    NG_CLI_ANALYTICS: "false",
    // The registry stays the one that this machine is configured for.
    npm_config_userconfig: process.env["npm_config_userconfig"] ?? path.join(homedir(), ".npmrc"),
    npm_config_cache: path.join(home, "npm"),
    npm_config_ignore_scripts: "true",
    // Without one, tools of Cloudflare wait for a sign-in. This one is not valid.
    CLOUDFLARE_API_TOKEN: "none",
  };
}

/**
 * Runs the newest version of a create tool in `folder`.
 *
 * @returns the folder of the project
 * @throws {ToolFailed} when it creates no project
 */
export async function createProject(template: Template, folder: string, home: string): Promise<string> {
  const project = path.join(folder, "app");
  await runTool(template, folder, home);
  if (!existsSync(path.join(project, "package.json"))) throw new ToolFailed("It wrote no package.json.");
  if (template.second) await runTool(template.second, project, home);
  return project;
}

async function runTool({ tool, args }: Pick<Template, "tool" | "args">, cwd: string, home: string): Promise<void> {
  const { code, output } = await runNpm(["exec", "--yes", `${tool}@latest`, "--", ...args], cwd, home);
  if (code !== 0) throw new ToolFailed(findReason(output));
}

export async function readToolVersion(tool: string, folder: string, home: string): Promise<string> {
  const { code, output } = await runNpm(["view", `${tool}@latest`, "version"], folder, home);
  return code === 0 ? (/^\d+\.\d+\.\S+$/m.exec(output)?.[0] ?? "unknown") : "unknown";
}

async function runNpm(args: readonly string[], cwd: string, home: string): Promise<{ code: number; output: string }> {
  const child = spawn("npm", args, {
    cwd,
    env: environment(home),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIME_LIMIT_MS,
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode ?? 1, output: stripVTControlCharacters(`${stdout}\n${stderr}`) };
}

/** Finds the line of the output that names the error. */
function findReason(output: string): string {
  const lines = output.split("\n").map((line) => line.replaceAll(/^[^\w]+|\s+$/g, ""));
  const isError = (line: string) =>
    /error|failed|unable|cannot|not found|missing required|went wrong|ENOTFOUND/i.test(line);
  const host = lines.find((line) => /ENOTFOUND|fetch failed|Failed to (fetch|download)|Unable to connect/.test(line));
  return (
    host ??
    lines.find((line) => isError(line) && !/^npm (warn|error)/.test(line)) ??
    lines.find(isError) ??
    "it printed no error"
  );
}
