import { spawn } from "node:child_process";
import { mkdir, open, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { parseJson } from "../../../../domain/shared/json.ts";
import { LAUNCH_SCRIPT, type LaunchedProcess } from "../../../sandbox/process-launcher.ts";
import { CONFIG_NAME, SOCKET, type WorkerdConfig } from "./workerd-config.ts";
import { MINIFLARE_WORKERS } from "./storage-services.ts";

/** A started workerd. */
export interface SpawnedWorkerd {
  stdout: Readable;
  stderr: Readable;
  /** Resolves to the port when the process listens. Never resolves if the process ends before. */
  port: Promise<number>;
  /** Resolves when the process has exited and its output has been read. */
  exited: Promise<void>;
}

/** The read-only folders that a process with a configuration below `folder` needs. */
export function configFolders(folder: string): string[] {
  return [importFolder(folder), MINIFLARE_WORKERS];
}

/** Writes the files of a configuration, before the sandbox is prepared. */
export async function writeImports(folder: string, { files }: WorkerdConfig): Promise<void> {
  const imports = importFolder(folder);
  await mkdir(imports, { mode: 0o755 });
  await Promise.all(files.map((contents, name) => writeFile(path.join(imports, String(name)), contents)));
}

/** Starts workerd in a prepared sandbox. */
export async function spawnWorkerd(
  launched: LaunchedProcess,
  folder: string,
  { text }: WorkerdConfig,
): Promise<SpawnedWorkerd> {
  // The configuration contains secrets of the app. Only we can enter its folder, and it has no name any more when the process, which
  // has another user id, reads it.
  const name = path.join(folder, "config");
  await writeFile(name, text, { mode: 0o644 });
  await using file = await open(name);
  await unlink(name);
  const imports = configFolders(folder).flatMap((each) => ["-I", each]);
  const args = ["serve", "--experimental", ...imports, "--control-fd=3", "/dev/stdin", CONFIG_NAME];
  const child = spawn(LAUNCH_SCRIPT, args, {
    env: launched.environment,
    stdio: [file.fd, "pipe", "pipe", "pipe"],
  });
  const exited = Promise.withResolvers<void>();
  child.once("error", () => exited.resolve());
  child.once("close", () => exited.resolve());
  const [, stdout, stderr, control] = child.stdio as unknown as [null, Readable, Readable, Readable];
  return { stdout, stderr, port: readPort(control), exited: exited.promise };
}

function importFolder(folder: string): string {
  return path.join(folder, "imports");
}

async function readPort(control: Readable): Promise<number> {
  for await (const line of createInterface({ input: control })) {
    const { event, socket, port } = (parseJson(line) ?? {}) as { event?: string; socket?: string; port?: number };
    if (event === "listen" && socket === SOCKET && port !== undefined) return port;
  }
  return new Promise(() => undefined);
}
