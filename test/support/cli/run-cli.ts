import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { PROJECT } from "../service/service-process.ts";
import { temporaryFolder } from "../temporary-folder.ts";

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A command that is running. */
export interface RunningCli {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  ended: Promise<CliResult>;
}

/** The built command line, with its own configuration folder. */
export interface TestCli extends AsyncDisposable {
  /** The folder of the package. */
  folder: string;
  tarball: string;
  configFile: string;
  /** Variables of every command. */
  env: Record<string, string>;
  run(args: readonly string[], options?: RunOptions): Promise<CliResult>;
  start(args: readonly string[], options?: RunOptions): RunningCli;
  /** Replaces what is stored. */
  writeConfig(content: string): Promise<void>;
  readConfig(): Promise<{ text: string; mode: number }>;
}

interface RunOptions {
  env?: Record<string, string>;
  /** Standard input. */
  input?: string;
  /** Leaves standard input open, for a command that runs until it ends. */
  keepsInputOpen?: boolean;
  /** The current folder; by default that of the test. */
  cwd?: string;
}

/** Builds the command line, and runs it in processes of its own. */
export async function createCli(env: Record<string, string>): Promise<TestCli> {
  const stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  await promisify(execFile)(process.execPath, [path.join(PROJECT, "scripts/build-cli.ts"), folder]);
  const configFolder = path.join(folder, "config");
  const configFile = path.join(configFolder, "svc/config.json");
  const variables = { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_CONFIG_HOME: configFolder, ...env };
  const start = (args: readonly string[], options: RunOptions = {}) =>
    startProcess([path.join(folder, "cli/svc.js"), ...args], { ...variables, ...options.env }, options);
  return {
    folder: path.join(folder, "cli"),
    tarball: path.join(folder, "cli.tgz"),
    configFile,
    env: variables,
    start,
    run: (args, options) => start(args, options).ended,
    async writeConfig(content) {
      await mkdir(path.dirname(configFile), { recursive: true });
      await writeFile(configFile, content);
    },
    readConfig: async () => ({ text: await readFile(configFile, "utf8"), mode: (await stat(configFile)).mode & 0o777 }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function startProcess(
  args: string[],
  env: Record<string, string>,
  { input = "", keepsInputOpen = false, cwd }: RunOptions,
): RunningCli {
  const child = spawn(process.execPath, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (chunk: Buffer) => {
      texts[name] += String(chunk);
    });
  child.stdin.on("error", () => undefined);
  if (keepsInputOpen) child.stdin.write(input);
  else child.stdin.end(input);
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, ...texts }));
  return { child, stdout: () => texts.stdout, stderr: () => texts.stderr, ended };
}
