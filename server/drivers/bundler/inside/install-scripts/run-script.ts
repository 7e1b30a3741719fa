import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import path from "node:path";
import { ancestorFolders } from "../ancestor-folders.ts";
import type { Manifest } from "./find-packages.ts";

export interface Script {
  folder: string;
  event: string;
  command: string;
  manifest: Manifest;
}

export interface ScriptResult {
  /** 128 plus the number of the signal for death by a signal. */
  code: number;
  /** The end of the output. */
  tail: string[];
}

const TAIL_LINES = 40;
const TAIL_CHARACTERS = 16 * 1024;
const MAX_ENVIRONMENT_VALUE = 4096;

/**
 * Runs one script as package managers do: in the folder of its package, with the programs of installed packages in `PATH`.
 *
 * @param isShown - whether the output appears in the build log
 */
export async function runScript(script: Script, env: NodeJS.ProcessEnv, isShown: boolean): Promise<ScriptResult> {
  const child = spawn("/bin/sh", ["-c", script.command], {
    cwd: script.folder,
    env: scriptEnvironment(script, env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-TAIL_CHARACTERS);
      if (isShown) process.stdout.write(chunk);
    });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  return { code: code ?? 128 + constants.signals[signal ?? "SIGKILL"], tail: lines.slice(-TAIL_LINES) };
}

function scriptEnvironment({ folder, event, command, manifest }: Script, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const programs = ancestorFolders(folder)
    .filter((each) => path.basename(each) !== "node_modules")
    .map((each) => path.join(each, "node_modules/.bin"));
  return {
    ...env,
    ...configVariables(manifest["config"], "npm_package_config"),
    PATH: [...programs, env["PATH"]].join(":"),
    INIT_CWD: process.cwd(),
    npm_lifecycle_event: event,
    npm_lifecycle_script: command,
    npm_package_name: textOf(manifest.name),
    npm_package_version: textOf(manifest.version),
    npm_package_json: path.join(folder, "package.json"),
  };
}

/** `{"cache": {"size": 1}}` becomes `npm_package_config_cache_size=1`. */
function configVariables(value: unknown, name: string): Record<string, string> {
  if (typeof value === "object" && value !== null)
    return Object.assign({}, ...Object.entries(value).map(([key, each]) => configVariables(each, `${name}_${key}`)));
  const text = textOf(value);
  return text.length > MAX_ENVIRONMENT_VALUE || text.includes("\0") ? {} : { [name]: text };
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}
