import { createRequire } from "node:module";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { runProgram } from "./run-command.ts";

/** `deno run` of one file, with the Deno that runs agents' code, and nothing around it. */
export async function bareDeno(folder: string, code: string): Promise<(signal: AbortSignal) => Promise<string>> {
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, "main.ts");
  await writeFile(file, code);
  const env = { PATH: "/usr/bin:/bin", DENO_DIR: path.join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
  return (signal) => runProgram([denoBinary(), "run", file], { cwd: folder, env, signal });
}

function denoBinary(): string {
  const ofDeno = createRequire(createRequire(import.meta.url).resolve("deno/package.json"));
  return ofDeno.resolve(`@deno/linux-${process.arch}-glibc/deno`);
}
