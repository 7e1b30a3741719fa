import { BuildFailure } from "../../../../domain/shared/errors.ts";
import type { Mount } from "../../../ports/sandbox.ts";
import { type BuildContext, runBuildStep, say } from "../build-step.ts";
import { SANDBOX_PATHS } from "../toolchain.ts";
import type { DependencyEntry } from "./dependency-entry.ts";
import type { DependencyStore } from "./dependency-store.ts";

/**
 * Puts the dependencies of an earlier build of the organization into the source, if they are stored. The host only mounts
 * the archives; the sandbox extracts them.
 *
 * @returns whether there is nothing left to install
 */
export async function restoreDependencies(
  context: BuildContext,
  store: DependencyStore,
  { organizationId, key, paths }: DependencyEntry,
): Promise<boolean> {
  const folder = await store.find(organizationId, key);
  if (folder === null) return false;
  const mount = { from: folder, to: SANDBOX_PATHS.dependencies, writable: false };
  if (!(await succeeds(context, "restore-dependencies.sh", mount, paths))) {
    await store.discard(folder);
    return false;
  }
  say(context, "Dependencies are unchanged; using those of an earlier build.");
  return true;
}

/**
 * Stores the dependencies for later builds of the organization. Call it directly after the install: until then no code of
 * the project has run that could have changed them. A failure does not concern this build.
 */
export async function storeDependencies(
  context: BuildContext,
  store: DependencyStore,
  { organizationId, key, paths }: DependencyEntry,
): Promise<void> {
  const prepared = await store.prepare();
  // Also if the build is canceled meanwhile.
  await using unused = new AsyncDisposableStack();
  unused.defer(() => store.discard(prepared));
  const mount = { from: prepared, to: SANDBOX_PATHS.dependencies, writable: true };
  const warn = () => say(context, "The dependencies could not be stored for later builds.");
  if (!(await succeeds(context, "store-dependencies.sh", mount, paths))) return warn();
  unused.move();
  store.add(organizationId, key, prepared, warn);
}

/** Runs a script that copies dependencies. A script that exceeds a limit has failed. */
async function succeeds(
  context: BuildContext,
  script: string,
  mount: Mount,
  paths: readonly string[],
): Promise<boolean> {
  const { dependencies, scratch, scripts, source } = SANDBOX_PATHS;
  try {
    const { code } = await runBuildStep(
      { ...context, request: { ...context.request, onOutput: () => undefined } },
      {
        name: "install",
        argv: ["/bin/sh", `${scripts}/${script}`, dependencies, source, scratch, ...paths],
        mounts: [mount],
      },
    );
    return code === 0;
  } catch (error) {
    if (error instanceof BuildFailure && !context.request.signal.aborted) return false;
    throw error;
  }
}
