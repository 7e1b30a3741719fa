import { mkdir, rename } from "node:fs/promises";
import path from "node:path";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import type { AssetRules, Migration } from "../../../domain/ports/bundler.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { type OutputTail, plain } from "./output-tail.ts";
import { readResult, type Result } from "./read-bundle-result.ts";
import { type BuildContext, runStep } from "./build-step.ts";
import { INSIDE } from "./toolchain.ts";
import { openUntrusted } from "../../sandbox/untrusted-file.ts";

const LARGEST_SCRIPT_MB = 64;

export interface BundledScript {
  scriptPath: string;
  framework: string | null;
  /** The folder as the project names it, relative to its root: nothing about it is checked yet. */
  assets: { directory: string; rules: AssetRules; leftOut: string[] } | null;
  migrations: Migration[];
}

/**
 * Bundles the built project with wrangler and moves the script to the output folder.
 *
 * @throws {BuildFailure} `user` when wrangler refuses the project
 */
export async function bundleScript(context: BuildContext): Promise<BundledScript> {
  const { outputDirectory } = context.request;
  // What the sandbox may write to is a folder of its own, so that it cannot prepare the place of what we write.
  const staging = path.join(outputDirectory, "staging");
  await mkdir(staging);
  const { code, output } = await runStep(context, {
    name: "bundling",
    argv: bundlingArguments(),
    mounts: [{ from: staging, to: INSIDE.output, writable: true }],
  });
  if (code !== 0) throw wranglerFailure(output);
  const result = await takeResult(path.join(staging, "result.json"));
  if ("failure" in result) throw userFailure(plain(result.failure.message), plain(result.failure.advice));
  const scriptPath = path.join(outputDirectory, "script.form");
  await takeScript(path.join(staging, "script.form"), scriptPath);
  await removeTree(staging);
  return { ...result, scriptPath };
}

/** Wrangler's own script is started, since its command would start a second process for it. */
export function bundlingArguments(): [string, ...string[]] {
  const wrangler = `${INSIDE.modules}/wrangler/wrangler-dist/cli.js`;
  return [
    INSIDE.node,
    `${INSIDE.scripts}/run-wrangler.ts`,
    wrangler,
    `${INSIDE.output}/result.json`,
    `${INSIDE.output}/script.form`,
  ];
}

async function takeResult(file: string): Promise<Result> {
  try {
    return await readResult(file);
  } catch (cause) {
    throw userFailure("The bundling left no usable result", "Read the build log for what it did instead.", { cause });
  }
}

/** Nothing of the sandbox runs any more, so what is checked here is what is moved. */
async function takeScript(from: string, to: string): Promise<void> {
  const handle = await openUntrusted(from);
  if (handle === null) throw userFailure("The bundling left no script", "Read the build log for what it did instead.");
  const { size } = await handle.stat();
  await handle.close();
  if (size > LARGEST_SCRIPT_MB * 1024 * 1024)
    throw userFailure(
      `The bundled script is larger than ${LARGEST_SCRIPT_MB} MiB`,
      "Move data out of the script: into static files, the database or the object storage.",
    );
  await rename(from, to);
}

function wranglerFailure(output: OutputTail): BuildFailure {
  const lines = output.lines();
  const place = lines.find((line) => /^\S+:\d+:\d+:$/.test(line));
  const where = place === undefined ? "" : ` (${place.slice(0, -1)})`;
  const reason = reasonIn(lines) ?? lines.at(-1) ?? "wrangler printed no reason";
  return userFailure(
    `The app could not be bundled: ${reason}${where}`,
    "Correct this, and check with: npx wrangler deploy --dry-run",
  );
}

function userFailure(message: string, advice: string, options?: ErrorOptions): BuildFailure {
  return new BuildFailure("user", message, advice, options);
}

function reasonIn(lines: readonly string[]): string | null {
  for (const [index, line] of lines.entries()) {
    const text = /\[ERROR\] (.+)/.exec(line)?.[1];
    // The first error may only count those that follow it.
    if (text === undefined || /^Build failed with \d+ errors?:$/.test(text)) continue;
    // What starts like a sentence or a list goes on in the next line; what is followed by its place does not.
    return /[.:]$/.test(text) ? `${text} ${lines[index + 1] ?? ""}`.trim() : text;
  }
  return null;
}
