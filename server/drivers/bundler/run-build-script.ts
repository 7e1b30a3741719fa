import { BuildFailure } from "../../../domain/shared/errors.ts";
import type { Project } from "./read-project.ts";
import { type BuildContext, runStep } from "./build-step.ts";
import { INSIDE } from "./toolchain.ts";

/**
 * Runs the project's `build` script. A project without one is built by its framework's command, unless a wrangler
 * configuration says what to bundle.
 *
 * @throws {BuildFailure} `user` when the build fails
 */
export async function build(context: BuildContext, project: Project): Promise<void> {
  const argv = buildCommand(project);
  if (argv === null) return;
  const { code, output } = await runStep(context, { name: "build", argv });
  if (code === 0) return;
  const hint = output.lines().at(-1);
  throw new BuildFailure(
    "user",
    `The build failed with exit code ${code}${hint === undefined ? "" : `: ${hint}`}`,
    "Read the build log, and make the build pass on a clean checkout with no network.",
  );
}

function buildCommand(project: Project): readonly [string, ...string[]] | null {
  if (project.hasBuildScript) return [`${INSIDE.scripts}/bin/${runner(project)}`, "run", "build"];
  if (project.needsInstall && !project.hasWranglerConfig)
    return [INSIDE.node, `${INSIDE.scripts}/run-framework-build.ts`];
  return null;
}

function runner({ packageManager }: Project): "npm" | "pnpm" | "yarn" {
  return packageManager === "pnpm" || packageManager === "yarn" ? packageManager : "npm";
}
