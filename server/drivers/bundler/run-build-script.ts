import { BuildFailure } from "../../../domain/shared/errors.ts";
import { type BuildContext, runBuildStep } from "./build-step.ts";
import type { Project } from "./read-project.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

/**
 * Runs the project's `build` script. Without one, runs the build command of its framework, unless a wrangler
 * configuration names what to bundle.
 *
 * @throws {BuildFailure} `user` when the build fails
 */
export async function runBuildScript(context: BuildContext, project: Project): Promise<void> {
  const argv = buildCommand(project);
  if (argv === null) return;
  const { code, output } = await runBuildStep(context, { name: "build", argv });
  if (code === 0) return;
  const lastLine = output.lines().at(-1);
  throw new BuildFailure(
    "user",
    `The build failed with exit code ${code}${lastLine === undefined ? "." : `: ${lastLine}`}`,
    "Read the build log. The build must succeed in a clean checkout without network access.",
  );
}

function buildCommand(project: Project): readonly [string, ...string[]] | null {
  if (project.hasBuildScript) return [`${SANDBOX_PATHS.scripts}/bin/${scriptRunner(project)}`, "run", "build"];
  if (project.needsInstall && !project.hasWranglerConfig)
    return [SANDBOX_PATHS.node, `${SANDBOX_PATHS.scripts}/run-framework-build.ts`];
  return null;
}

function scriptRunner({ packageManager }: Project): "npm" | "pnpm" | "yarn" | "bun" {
  return packageManager === "yarn-berry" ? "yarn" : packageManager;
}
