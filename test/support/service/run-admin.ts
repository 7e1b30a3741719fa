import { type ChildProcess, execFile, spawn } from "node:child_process";
import { PROJECT } from "./service-process.ts";

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

const COMMAND = "server/admin/admin.ts";

/** Runs `npm run admin` in a separate process. */
export function runAdmin(env: Record<string, string>, ...args: string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(process.execPath, [COMMAND, ...args], optionsOf(env), (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** Starts the command, for tests that end it. */
export function startAdmin(env: Record<string, string>, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [COMMAND, ...args], { ...optionsOf(env), stdio: "ignore" });
}

function optionsOf(env: Record<string, string>) {
  const { PATH = "", HOME = "" } = process.env;
  return { cwd: PROJECT, env: { PATH, HOME, ...env } };
}
