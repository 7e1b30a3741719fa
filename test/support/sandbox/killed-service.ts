import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { processesWith } from "./sandbox-command.ts";

const SCRIPT = fileURLToPath(new URL("./sandboxed-sleep.ts", import.meta.url));

/**
 * Kills a process while a command sleeps in its sandbox.
 *
 * @param folder - of the host, for a sandbox with prepared files
 */
export async function killDuringSleep(seconds: string, folder?: string): Promise<void> {
  const programArguments = folder === undefined ? [seconds] : [seconds, folder];
  const service = spawn(process.execPath, [SCRIPT, ...programArguments], { stdio: "ignore" });
  try {
    // The service, the tools that start the sandbox, and the command.
    await expect.poll(async () => (await processesWith(seconds)).length).toBeGreaterThan(2);
  } finally {
    service.kill("SIGKILL");
    await once(service, "exit");
  }
}
