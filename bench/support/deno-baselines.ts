import { createRequire } from "node:module";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { runCommand } from "./run-command.ts";

type RunOnce = (signal: AbortSignal) => Promise<string>;

/** Prepares a plain `deno run` of one file, with the Deno of the service and without a sandbox. Returns how to run it. */
export async function prepareBareDeno(folder: string, code: string): Promise<RunOnce> {
  const file = await writeCode(folder, code);
  const env = denoEnvironment(path.join(folder, "deno"));
  return (signal) => runCommand([findDeno(), "run", file], { cwd: folder, env, signal });
}

/**
 * Prepares a `deno run` of one file in one layer of bubblewrap: new namespaces of every kind and no network, but without
 * user ids, limits, control groups and a system call filter.
 */
export async function prepareBubblewrapDeno(folder: string, code: string): Promise<RunOnce> {
  await writeCode(folder, code);
  const files = [
    ...["--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
    ...["--ro-bind", findDeno(), "/opt/deno", "--ro-bind", folder, "/code"],
  ];
  const isolation = ["--unshare-user", "--unshare-all", "--die-with-parent", "--new-session"];
  const env = denoEnvironment("/tmp/deno");
  const command = ["/opt/deno", "run", "/code/main.ts"];
  return (signal) => runCommand(["bwrap", ...isolation, ...files, "--", ...command], { cwd: "/", env, signal });
}

async function writeCode(folder: string, code: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, "main.ts");
  await writeFile(file, code);
  return file;
}

function denoEnvironment(cacheFolder: string): Record<string, string> {
  return { PATH: "/usr/bin:/bin", DENO_DIR: cacheFolder, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
}

/** The `deno` package's own launcher is a Node script. The platform package has the executable. */
function findDeno(): string {
  const requireFromDeno = createRequire(createRequire(import.meta.url).resolve("deno/package.json"));
  return requireFromDeno.resolve(`@deno/linux-${process.arch}-glibc/deno`);
}
