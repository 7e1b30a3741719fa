import { mkdir, rename } from "node:fs/promises";
import path from "node:path";
import type { AppCode, Runtime } from "../../../domain/ports/bundler.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { installedProgramFolders } from "../../sandbox/installed-programs.ts";
import { openUntrusted } from "../../sandbox/untrusted-file.ts";
import { type BuildContext, runBuildStep } from "./build-step.ts";
import { explainBundleFailure } from "./failures/explain-bundle.ts";
import { packServer } from "./pack-server.ts";
import { type BundleContents, type BundleResult, readBundleResult } from "./read-bundle-result.ts";
import { toSingleLine } from "./single-line.ts";
import { SANDBOX_PATHS, toolchainEnvironment } from "./toolchain.ts";

const MAX_SCRIPT_MB = 64;

const CUSTOM_BUILD_ADVICE = "Read the build log. A custom build command may have ended the bundler too early.";

/** A bundle whose static files are still in the source folder. Their path, relative to the package, is not checked yet. */
export interface BundledApp extends BundleContents {
  code: AppCode;
}

/**
 * Bundles the built project with wrangler, or packs the files of a Node server. The result is in the output folder.
 *
 * @param directory - the folder of the package, relative to the source
 * @throws {BuildFailure} `user` when wrangler cannot bundle the project
 */
export async function bundleApp(context: BuildContext, directory: string): Promise<BundledApp> {
  const { outputDirectory } = context.request;
  // The sandbox writes to a folder of its own, so that it cannot create files or links where the host writes.
  const staging = path.join(outputDirectory, "staging");
  await mkdir(staging);
  const { code, output } = await runBuildStep(context, {
    name: "bundle",
    directory,
    argv: wranglerCommand(context.request.runtime),
    // A custom build of the wrangler configuration runs the programs of installed packages by their name.
    env: {
      PATH: [
        ...installedProgramFolders(SANDBOX_PATHS.source, directory),
        context.env["PATH"] ?? toolchainEnvironment(context.toolchain)["PATH"],
      ].join(":"),
    },
    mounts: [{ from: staging, to: SANDBOX_PATHS.output, writable: true }],
  });
  if (code !== 0) throw explainBundleFailure(output.lines());
  const result = await readResult(path.join(staging, "result.json"));
  if ("failure" in result) throw userFailure(toSingleLine(result.failure.message), toSingleLine(result.failure.advice));
  if ("server" in result) {
    await removeTree(staging);
    const {
      framework,
      database: { incompleteMigration, ...database },
      ...plan
    } = result.server;
    const server = { ...(await packServer(context, plan, directory)), ...database };
    const warnings = incompleteMigration === undefined ? [] : [describeIncomplete(incompleteMigration)];
    return { framework, assets: null, migrations: [], warnings, code: { runtime: "node", server } };
  }
  const scriptPath = path.join(outputDirectory, "script.form");
  await moveScript(path.join(staging, "script.form"), scriptPath);
  await removeTree(staging);
  return { ...result, code: { runtime: "worker", scriptPath } };
}

/** In MiB. Loading wrangler fills V8's new space many times. A larger one takes 0.88 of the CPU time of a bundling. */
const LARGE_NEW_SPACE = ["--min-semi-space-size=64", "--max-semi-space-size=64"];

/** The command inside the sandbox. It runs wrangler's script: wrangler's own command would start a second process. */
export function wranglerCommand(runtime: Runtime | null = null): [string, ...string[]] {
  return [
    SANDBOX_PATHS.node,
    ...LARGE_NEW_SPACE,
    `${SANDBOX_PATHS.scripts}/run-wrangler.ts`,
    `${SANDBOX_PATHS.modules}/wrangler/wrangler-dist/cli.js`,
    `${SANDBOX_PATHS.output}/result.json`,
    `${SANDBOX_PATHS.output}/script.form`,
    SANDBOX_PATHS.source,
    ...(runtime === null ? [] : [runtime]),
  ];
}

async function readResult(file: string): Promise<BundleResult> {
  try {
    return await readBundleResult(file);
  } catch (cause) {
    throw userFailure("The bundle step wrote no valid result.", CUSTOM_BUILD_ADVICE, { cause });
  }
}

/** The sandbox has ended, so the file cannot change between the checks and the move. */
async function moveScript(from: string, to: string): Promise<void> {
  const handle = await openUntrusted(from);
  if (handle === null) throw userFailure("The bundle step wrote no script.", CUSTOM_BUILD_ADVICE);
  const { size } = await handle.stat();
  await handle.close();
  if (size > MAX_SCRIPT_MB * 1024 * 1024)
    throw userFailure(
      `The bundled script is larger than ${MAX_SCRIPT_MB} MiB.`,
      "Move data out of the script, into static files, the SQL database or the object storage.",
    );
  await rename(from, to);
}

function userFailure(message: string, advice: string, options?: ErrorOptions): BuildFailure {
  return new BuildFailure("user", message, advice, options);
}

function describeIncomplete(script: string): string {
  return `The script ${script} of package.json needs an argument, so it did not run, and the database of the app is as it was. Name the complete command in a file Procfile, such as: release: npm run ${script} -- up`;
}
