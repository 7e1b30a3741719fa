import { writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { BuildFailure } from "../../../../domain/shared/errors.ts";
import type { ServedPackages } from "../../../ports/package-registry.ts";
import type { Mount } from "../../../ports/sandbox.ts";
import { type BuildContext, runBuildStep, say } from "../build-step.ts";
import { readUntrusted } from "../../../sandbox/untrusted-file.ts";
import { SANDBOX_PATHS } from "../toolchain.ts";
import type { DependencyEntry } from "./dependency-entry.ts";
import { type DependencyStore, PACKAGE_LIST } from "./dependency-store.ts";

const MAX_LIST_BYTES = 8 * 1024 * 1024;

const listSchema = z.object({ packages: z.array(z.string()), withScripts: z.array(z.string()) });

/**
 * Puts the dependencies of an earlier build of the organization into the source, if they are stored. The host only mounts
 * the archives; the sandbox extracts them.
 *
 * @returns the packages of the entry; `null` if they have to be installed
 */
export async function restoreDependencies(
  context: BuildContext,
  store: DependencyStore,
  { organizationId, key, paths }: DependencyEntry,
): Promise<ServedPackages | null> {
  const folder = await store.find(organizationId, key);
  if (folder === null) return null;
  const mount = { from: folder, to: SANDBOX_PATHS.dependencies, writable: false };
  const list = await readList(path.join(folder, PACKAGE_LIST));
  if (list === null || !(await succeeds(context, "restore-dependencies.sh", mount, paths))) {
    await store.discard(folder);
    return null;
  }
  say(context, "Dependencies are unchanged; using those of an earlier build.");
  return list;
}

async function readList(file: string): Promise<ServedPackages | null> {
  try {
    const { packages, withScripts } = listSchema.parse(JSON.parse((await readUntrusted(file, MAX_LIST_BYTES)) ?? ""));
    return { packages: new Set(packages), withScripts: new Set(withScripts) };
  } catch {
    return null;
  }
}

/**
 * Stores the dependencies under the key of an entry. Call it directly after the install for an entry that all builds of the
 * organization use: until then no code of the project or of a package has run that could have changed them. A failure does
 * not concern this build.
 */
export async function storeDependencies(
  context: BuildContext,
  store: DependencyStore,
  { organizationId, key, paths }: DependencyEntry,
  { packages, withScripts }: ServedPackages,
): Promise<void> {
  const prepared = await store.prepare();
  // Also if the build is canceled meanwhile.
  await using unused = new AsyncDisposableStack();
  unused.defer(() => store.discard(prepared));
  const mount = { from: prepared, to: SANDBOX_PATHS.dependencies, writable: true };
  const warn = () => say(context, "The dependencies could not be stored for later builds.");
  if (!(await succeeds(context, "store-dependencies.sh", mount, paths))) return warn();
  const list = { packages: [...packages], withScripts: [...withScripts] };
  // The sandbox that wrote the archives cannot have left a link there.
  await writeFile(path.join(prepared, PACKAGE_LIST), JSON.stringify(list), { flag: "wx" });
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
