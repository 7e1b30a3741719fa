import { mkdir } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { type BuildContext, runBuildStep } from "./build-step.ts";
import { findCause } from "./failures/find-cause.ts";
import { withoutSideFolders } from "./inside/side-folders.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

const MAX_RESULT_BYTES = 4 * 1024 * 1024;

const directory = z
  .string()
  .regex(/^\P{Cc}+$/u)
  .refine((text) => !path.posix.isAbsolute(text) && !text.split("/").includes(".."));

const workspacePackage = z.object({
  /** Relative to the root of the workspace; `.` is the root. */
  directory,
  /** The folders of the packages of the workspace that it depends on. */
  dependsOn: z.array(directory),
  hasBuildScript: z.boolean(),
  /** Whether it has a wrangler configuration. */
  hasConfig: z.boolean(),
  /** Whether the `build` script of the root, or the settings for another host beside it, name the package or its folder. */
  isBuiltByRoot: z.boolean(),
  /** Whether the start script of the root starts it, and how: a file with Node.js, or the program of a framework. */
  startedByRoot: z.enum(["file", "framework"]).nullable(),
  /** A `script` has an entry file, as a library can have too. */
  kind: z.enum(["app", "script", "library"]),
});

/** A package of a workspace. */
export type WorkspacePackage = z.infer<typeof workspacePackage>;

/**
 * Lists the packages of a workspace, the root first.
 *
 * @param root - the root of the workspace, relative to the source
 * @throws {BuildFailure} `user` when the workspace cannot be read
 */
export async function listPackages(context: BuildContext, root: string): Promise<WorkspacePackage[]> {
  const folder = path.join(context.request.outputDirectory, "workspace");
  await mkdir(folder);
  const { code, output } = await runBuildStep(context, {
    name: "install",
    directory: root,
    argv: [SANDBOX_PATHS.node, `${SANDBOX_PATHS.scripts}/list-packages.ts`, `${SANDBOX_PATHS.output}/packages.json`],
    mounts: [{ from: folder, to: SANDBOX_PATHS.output, writable: true }],
  });
  if (code !== 0)
    throw new BuildFailure(
      "user",
      `The packages of the workspace could not be listed: ${findCause(output.lines()) ?? "no reason was printed."}`,
      "Correct workspaces in package.json, or packages in pnpm-workspace.yaml.",
    );
  const text = (await readUntrusted(path.join(folder, "packages.json"), MAX_RESULT_BYTES)) ?? "";
  await removeTree(folder);
  return z.array(workspacePackage).parse(JSON.parse(text));
}

/** The package to deploy, and what the build log says of it. */
export interface ChosenPackage {
  /** `.` is the root of the workspace. */
  directory: string;
  reason: string | null;
}

const ROOT: ChosenPackage = { directory: ".", reason: null };

/**
 * Chooses the package to deploy when the app names none: the root if it is an app itself, otherwise the only app. Of several
 * apps, it is the only one that the root builds, or the only one that is not a test or an example. A server that the root starts
 * comes before apps that it does not start: they can be its pages, so the root is built and started if it has a `build` script,
 * unless the program of a framework starts the package, such as `next start`.
 *
 * @returns the root if there is no app
 * @throws {BuildFailure} `user` when there are several
 */
export function choosePackage(packages: readonly WorkspacePackage[]): ChosenPackage {
  const [root, ...members] = packages;
  if (root === undefined || root.kind !== "library") return ROOT;
  const used = new Set(packages.flatMap(({ dependsOn }) => dependsOn));
  const apps = members.filter((each) => each.hasConfig || (each.kind === "app" && !used.has(each.directory)));
  const scripts = members.filter((each) => each.kind === "script" && !used.has(each.directory));
  const candidates = withoutSideFolders(apps.length > 0 ? apps : scripts, ({ directory }) => directory);
  const started = withoutSideFolders(members, ({ directory }) => directory).find((each) => each.startedByRoot !== null);
  const isOnly = candidates.length === 1 && candidates[0] === started;
  if (started !== undefined && !isOnly && !candidates.some((each) => each.hasConfig))
    return started.startedByRoot === "file" && root.hasBuildScript
      ? { directory: ".", reason: `the whole workspace, because its root builds it and starts ${started.directory}` }
      : { directory: started.directory, reason: `${started.directory}, which the root of the workspace starts` };
  const built = candidates.filter((each) => each.isBuiltByRoot);
  const [first, ...others] = built.length === 1 ? built : candidates;
  if (others.length > 0) throw severalPackages(candidates.map((each) => each.directory));
  if (first === undefined) return ROOT;
  return {
    directory: first.directory,
    reason: `${first.directory}, the only package of the workspace that can be deployed`,
  };
}

/** The most names that an error lists. */
const MAX_LISTED = 20;

function severalPackages(directories: readonly string[]): BuildFailure {
  const listed = directories.slice(0, MAX_LISTED).join(", ");
  const rest = directories.length > MAX_LISTED ? `, and ${directories.length - MAX_LISTED} more` : "";
  return new BuildFailure(
    "user",
    `The repository is a workspace with ${directories.length} packages that can be deployed: ${listed}${rest}.`,
    `Set root_directory to one of them, when you deploy or in the settings of the app (PATCH /v1/apps/{id}), and deploy again.`,
  );
}

/**
 * The packages with a build script that a package depends on, directly or not, in the order in which they must be built.
 * In a cycle, the order is any.
 */
export function buildOrder(packages: readonly WorkspacePackage[], directoryOfApp: string): string[] {
  const byDirectory = new Map(packages.map((each) => [each.directory, each]));
  const visited = new Set<string>();
  const order: string[] = [];
  const visit = (current: string) => {
    if (visited.has(current)) return;
    visited.add(current);
    const found = byDirectory.get(current);
    for (const dependency of found?.dependsOn ?? []) visit(dependency);
    if (found?.hasBuildScript && current !== directoryOfApp && current !== ".") order.push(current);
  };
  visit(directoryOfApp);
  return order;
}
