import { rm } from "node:fs/promises";
import path from "node:path";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { type BuildContext, runBuildStep, say } from "./build-step.ts";
import { findInstallReason } from "./failures/explain-install.ts";
import type { Project } from "./read-project.ts";
import { isConverted } from "./select-package-manager.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

/** What Bun prints if it lacks a version of a package. */
const NEEDS_REGISTRY = /failed to resolve|downloading package manifest/;
const UNREAD_LOCKFILE =
  "bun.lockb does not match package.json, so other versions of packages may have been installed. Convert it with `bun install --save-text-lockfile`, and commit bun.lock.";

/**
 * Replaces bun.lockb, which is binary, by bun.lock, of which the names and the URLs can be read. Bun needs no network for it, unless the
 * lockfile does not match package.json. Then the install has no lockfile.
 */
export async function readBinaryLockfile(
  context: BuildContext,
  project: Project,
): Promise<{ project: Project; warnings: string[] }> {
  const { packageManager, rootEntries, location } = project;
  if (packageManager !== "bun" || !isConverted(rootEntries)) return { project, warnings: [] };
  const { code, output } = await runBuildStep(context, {
    name: "install",
    directory: location.installDirectory,
    argv: [
      `${SANDBOX_PATHS.scripts}/bin/bun`,
      ...["install", "--frozen-lockfile", "--save-text-lockfile", "--lockfile-only"],
    ],
  });
  if (code === 0) return { project, warnings: [] };
  if (!output.lines().some((line) => NEEDS_REGISTRY.test(line)))
    throw new BuildFailure(
      "user",
      `bun.lockb could not be read: ${findInstallReason("bun", output.lines())}`,
      "Convert it with `bun install --save-text-lockfile`, commit bun.lock, and deploy again.",
    );
  say(context, `warning: ${UNREAD_LOCKFILE}`);
  // Bun would request the packages at the registry that the file names.
  await rm(path.join(context.request.sourceDirectory, location.installDirectory, "bun.lockb"));
  const entries = new Set([...rootEntries].filter((name) => name !== "bun.lockb"));
  return { project: { ...project, rootEntries: entries }, warnings: [UNREAD_LOCKFILE] };
}
