import { createRequire } from "node:module";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { runCommand } from "./run-command.ts";

/** Prepares a plain `deno run` of one file, with the Deno of the service and without a sandbox. Returns how to run it. */
export async function prepareBareDeno(folder: string, code: string): Promise<(signal: AbortSignal) => Promise<string>> {
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, "main.ts");
  await writeFile(file, code);
  const env = { PATH: "/usr/bin:/bin", DENO_DIR: path.join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
  return (signal) => runCommand([findDeno(), "run", file], { cwd: folder, env, signal });
}

/** The `deno` package's own launcher is a Node script. The platform package has the executable. */
function findDeno(): string {
  const requireFromDeno = createRequire(createRequire(import.meta.url).resolve("deno/package.json"));
  return requireFromDeno.resolve(`@deno/linux-${process.arch}-glibc/deno`);
}
