import { BuildFailure } from "../../../domain/shared/errors.ts";
import { openBuildDatabase } from "./build-database.ts";
import { type BuildNetwork, openBuildNetwork } from "./build-network.ts";
import { type BuildContext, type BuildStep, runBuildStep, say } from "./build-step.ts";
import { explainBuildFailure } from "./failures/explain-build.ts";
import { explainServerBuild } from "./inside/explain-server-build.ts";
import type { Project } from "./read-project.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

/** Astro's error for pages that are rendered on request, when the project has no adapter. */
const NO_ASTRO_ADAPTER = /NoAdapterInstalled|Cannot use server-rendered pages without an adapter/;

/** The error of OpenSSL 3 for hashes such as MD4, with which webpack 4 names files. */
const REMOVED_HASH = /error:0308010C\b/;
/** What react-scripts prints. It treats warnings as errors if it does not run on the machine of a developer. */
const WARNINGS_AS_ERRORS = /Treating warnings as errors because process\.env\.CI/;
const LEGACY_HASHES = "--openssl-legacy-provider";

/**
 * Runs the `build` scripts of the packages that the project depends on, then its own, or the command that `vercel.json` or
 * `netlify.toml` sets. Without one, runs the build command of its framework, unless a wrangler configuration names what to bundle. A project of OpenNext is built by OpenNext.
 *
 * @throws {BuildFailure} `user` when the build fails
 */
export async function runBuildScript(context: BuildContext, project: Project): Promise<void> {
  const { packageDirectory: directory, buildFirst } = project.location;
  const own = buildCommand(project);
  const first = buildFirst.length > 0 ? workspaceBuild(project) : null;
  if (own === null && first === null) return;
  await context.request.onStep?.("build");
  await using database = await openBuildDatabase(context, project);
  await using network = await openBuildNetwork(context);
  const step = {
    name: "build",
    ...network.step,
    ...database?.step,
    env: {
      ...(context.request.runtime === "node" ? {} : platformVariables(project, context)),
      ...database?.step.env,
      ...network.step.env,
    },
  } as const;
  if (first !== null) await run(context, { ...step, argv: first }, network);
  if (own !== null) await run(context, { ...step, argv: own, directory }, network);
}

/** Runs one script of the package. @returns whether it succeeded */
export async function runPackageScript(context: BuildContext, project: Project, script: string): Promise<boolean> {
  await using network = await openBuildNetwork(context);
  const argv = [scriptRunner(project), "run", script] as const;
  const { packageDirectory: directory } = project.location;
  const { code } = await runBuildStep(context, {
    name: "build",
    argv,
    directory,
    ...network.step,
  });
  return code === 0;
}

async function run(context: BuildContext, step: BuildStep, network: BuildNetwork): Promise<void> {
  const { code, output } = await runBuildStep(context, step).finally(() => network.report());
  if (code === 0) return;
  const lines = output.lines();
  const remedy = findRemedy(lines, step, nodeOptions(context, step));
  if (remedy !== null) {
    say(context, `warning: ${remedy.reason}`);
    return run(context, { ...step, env: { ...step.env, ...remedy.env } }, network);
  }
  const missingAdapter = lines.some((line) => NO_ASTRO_ADAPTER.test(line)) ? explainServerBuild("astro") : null;
  if (missingAdapter) throw new BuildFailure("user", missingAdapter.message, missingAdapter.advice);
  const { nodeVersion = process.versions.node } = context;
  throw explainBuildFailure(code, lines, { ...network.connections(), nodeVersion, longLines: output.longLines() });
}

/** Variables with which a failed build may succeed. */
function findRemedy(
  lines: readonly string[],
  { env = {} }: BuildStep,
  options: string,
): { reason: string; env: Record<string, string> } | null {
  const printed = (pattern: RegExp) => lines.some((line) => pattern.test(line));
  if (printed(REMOVED_HASH) && !options.includes(LEGACY_HASHES))
    return {
      reason: `webpack 4 needs a hash that Node.js has removed. Building again with ${LEGACY_HASHES}.`,
      env: { NODE_OPTIONS: `${options} ${LEGACY_HASHES}`.trim() },
    };
  if (printed(WARNINGS_AS_ERRORS) && env["CI"] !== "false")
    return { reason: "With CI=true, warnings end this build. Building again with CI=false.", env: { CI: "false" } };
  return null;
}

/** The options of Node.js that a step has, or that the owner has set for builds. */
function nodeOptions({ request }: BuildContext, { env }: Pick<BuildStep, "env">): string {
  return env?.["NODE_OPTIONS"] ?? request.variables?.["NODE_OPTIONS"] ?? "";
}

/**
 * The variables by which frameworks recognize the platform. Nitro (Nuxt, SolidStart, TanStack Start) chooses its preset by
 * the first, unless the project has chosen one. SvelteKit's adapter-auto chooses its adapter by the second, which would
 * make Nitro build for Pages. A Pages project gets the second only, as on Pages. The build of a requested Node server gets neither.
 */
function platformVariables({ needsSvelteAdapter, isPages }: Project, context: BuildContext): Record<string, string> {
  if (isPages) return { CF_PAGES: "1" };
  if (!needsSvelteAdapter) return { WORKERS_CI: "1" };
  const options = `${nodeOptions(context, {})} --import=${SANDBOX_PATHS.scripts}/replace-svelte-adapter.mjs`.trim();
  return { WORKERS_CI: "1", CF_PAGES: "1", NODE_OPTIONS: options };
}

function buildCommand(project: Project): readonly [string, ...string[]] | null {
  // OpenNext runs the build script itself.
  if (project.needsOpenNext) return [SANDBOX_PATHS.node, `${SANDBOX_PATHS.scripts}/run-open-next.ts`];
  const isConfigured = project.hasHostingSettings && !project.hasWranglerConfig;
  if (project.buildScript !== null && !isConfigured) return [scriptRunner(project), "run", project.buildScript];
  if (isConfigured || (project.needsInstall && !project.hasWranglerConfig))
    return [SANDBOX_PATHS.node, `${SANDBOX_PATHS.scripts}/run-framework-build.ts`, scriptRunner(project)];
  return null;
}

function workspaceBuild(project: Project): readonly [string, ...string[]] {
  const script = `${SANDBOX_PATHS.scripts}/run-workspace-build.ts`;
  return [SANDBOX_PATHS.node, script, scriptRunner(project), ...project.location.buildFirst];
}

function scriptRunner({ packageManager }: Project): string {
  return `${SANDBOX_PATHS.scripts}/bin/${packageManager === "yarn-berry" ? "yarn" : packageManager}`;
}
