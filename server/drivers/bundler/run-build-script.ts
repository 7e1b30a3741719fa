import { BuildFailure } from "../../../domain/shared/errors.ts";
import { type BuildContext, type BuildStep, runBuildStep } from "./build-step.ts";
import { explainServerBuild } from "./inside/explain-server-build.ts";
import type { Project } from "./read-project.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

/** Astro's error for pages that are rendered on request, when the project has no adapter. */
const NO_ASTRO_ADAPTER = /NoAdapterInstalled|Cannot use server-rendered pages without an adapter/;

/**
 * Runs the `build` scripts of the packages that the project depends on, then its own. Without one, runs the build command of its framework, unless a wrangler
 * configuration names what to bundle.
 *
 * @throws {BuildFailure} `user` when the build fails
 */
export async function runBuildScript(context: BuildContext, project: Project): Promise<void> {
  const { packageDirectory: directory, buildFirst } = project.location;
  const env = platformVariables(project);
  if (buildFirst.length > 0) await run(context, { name: "build", argv: workspaceBuild(project), env });
  const argv = buildCommand(project);
  if (argv !== null) await run(context, { name: "build", argv, env, directory });
}

async function run(context: BuildContext, step: BuildStep): Promise<void> {
  const { code, output } = await runBuildStep(context, step);
  if (code === 0) return;
  const lines = output.lines();
  const missingAdapter = lines.some((line) => NO_ASTRO_ADAPTER.test(line)) ? explainServerBuild("astro") : null;
  if (missingAdapter) throw new BuildFailure("user", missingAdapter.message, missingAdapter.advice);
  const lastLine = lines.at(-1);
  throw new BuildFailure(
    "user",
    `The build failed with exit code ${code}${lastLine === undefined ? "." : `: ${lastLine}`}`,
    "Read the build log. The build must succeed in a clean checkout without network access.",
  );
}

/**
 * The variables by which frameworks recognize the platform. Nitro (Nuxt, SolidStart, TanStack Start) chooses its preset by
 * the first, unless the project has chosen one. SvelteKit's adapter-auto chooses its adapter by the second, which would
 * make Nitro build for Pages.
 */
function platformVariables({ needsSvelteAdapter }: Project): Record<string, string> {
  return needsSvelteAdapter ? { WORKERS_CI: "1", CF_PAGES: "1" } : { WORKERS_CI: "1" };
}

function buildCommand(project: Project): readonly [string, ...string[]] | null {
  if (project.hasBuildScript) return [scriptRunner(project), "run", "build"];
  if (project.needsInstall && !project.hasWranglerConfig)
    return [SANDBOX_PATHS.node, `${SANDBOX_PATHS.scripts}/run-framework-build.ts`];
  return null;
}

function workspaceBuild(project: Project): readonly [string, ...string[]] {
  const script = `${SANDBOX_PATHS.scripts}/run-workspace-build.ts`;
  return [SANDBOX_PATHS.node, script, scriptRunner(project), ...project.location.buildFirst];
}

function scriptRunner({ packageManager }: Project): string {
  return `${SANDBOX_PATHS.scripts}/bin/${packageManager === "yarn-berry" ? "yarn" : packageManager}`;
}
