import { randomUUID } from "node:crypto";
import path from "node:path";
import { z } from "zod";
import type { PackageRegistry, PackageSession, ServedPackages } from "../../../ports/package-registry.ts";
import { readUntrusted } from "../../../sandbox/untrusted-file.ts";
import { type BuildContext, runBuildStep, say, type StepResult } from "../build-step.ts";
import { describeTolerated, explainScriptFailure, listRefusedHosts } from "../failures/explain-scripts.ts";
import type { ScriptReport } from "../inside/install-scripts/script-report.ts";
import { INSTALL_COMMANDS } from "../package-manager-commands.ts";
import type { Project } from "../read-project.ts";
import { toSingleLine } from "../single-line.ts";
import { nodeHeaders, SANDBOX_PATHS, toolchainEnvironment } from "../toolchain.ts";
import { trustEngines } from "../trust-certificate.ts";
import { installedFolders, projectFolders } from "./needs-scripts.ts";
import { allowsEngines, needsEngines } from "./prisma-engines.ts";
import { PROJECT_EVENTS, type ScriptPlan } from "../inside/install-scripts/script-plan.ts";

const MAX_REPORT_BYTES = 1024 * 1024;
const MAX_FAILURES = 100;

const reportSchema = z.object({
  lacksEngines: z.boolean(),
  wroteOutside: z.boolean(),
  failures: z
    .array(
      z.object({
        packageName: z.string().max(250).nullable(),
        event: z.string().max(50),
        code: z.number(),
        tail: z.array(z.string()).max(MAX_FAILURES),
        isTolerated: z.boolean(),
      }),
    )
    .max(MAX_FAILURES),
}) satisfies z.ZodType<ScriptReport>;

export interface ScriptsRun {
  /** Problems that do not end the build. */
  warnings: string[];
  /** Whether a script of a package changed more than `node_modules`. */
  wroteOutside: boolean;
  /** Whether Prisma, which may download its engines, has none. */
  lacksEngines: boolean;
}

/**
 * Runs the install scripts of packages in the checkout. They reach the packages that the install resolved, and the
 * files of Prisma's engines if Prisma is one of them. They see no variables of the app.
 *
 * @throws {BuildFailure} `user` when a script of a package that the project requires fails
 */
export function runPackageScripts(
  context: BuildContext,
  packages: PackageRegistry,
  project: Project,
  served: ServedPackages,
): Promise<ScriptsRun> {
  return runScripts(context, packages, project, served, "packages");
}

/**
 * Runs the install scripts of the project itself, with the variables of the app that builds get: they are part of the
 * build as much as the build script.
 *
 * @throws {BuildFailure} `user` when a script fails
 */
export function runProjectScripts(
  context: BuildContext,
  packages: PackageRegistry,
  project: Project,
  served: ServedPackages,
): Promise<ScriptsRun> {
  return runScripts(context, packages, project, served, "project");
}

async function runScripts(
  context: BuildContext,
  packages: PackageRegistry,
  project: Project,
  { packages: resolved }: ServedPackages,
  phase: ScriptPlan["phase"],
): Promise<ScriptsRun> {
  const engines = allowsEngines(context) && needsEngines(resolved);
  const { registry = null } = context.request;
  await using session = await packages.openResolved(resolved, { registry, engines });
  // Scripts of an earlier phase cannot have created a file of this name.
  const reportName = `install-scripts-${randomUUID()}.json`;
  const { code } = await runStep(context, session, project, phase, reportName);
  const report = await readReport(path.join(context.scratchDirectory, reportName));
  const refused = session.refused();
  const { failedUrls } = session.report();
  for (const { url, reason } of failedUrls) say(context, `Prisma could not download ${toSingleLine(url)}: ${reason}.`);
  for (const line of listRefusedHosts(refused)) say(context, line);
  if (code !== 0) throw explainScriptFailure(code, report, refused, context.nodeVersion ?? process.versions.node);
  const warnings = (report?.failures ?? []).map((failure) => describeTolerated(failure, refused));
  return { warnings, wroteOutside: report?.wroteOutside ?? true, lacksEngines: report?.lacksEngines ?? false };
}

function runStep(
  context: BuildContext,
  session: PackageSession,
  project: Project,
  phase: ScriptPlan["phase"],
  reportName: string,
): Promise<StepResult> {
  const { packageManager, requestedVersion, location } = project;
  const { installDirectory } = location;
  const plan: ScriptPlan = {
    phase,
    packageManager,
    version: requestedVersion,
    projects: projectFolders(project).map((folder) => path.relative(installDirectory, folder) || "."),
    events: PROJECT_EVENTS[packageManager],
    registryUrl: session.registryUrl,
    source: SANDBOX_PATHS.source,
  };
  const trust = trustEngines(session);
  const { node, scripts, scratch } = SANDBOX_PATHS;
  return runBuildStep(context, {
    name: "install",
    directory: installDirectory,
    hasVariables: phase === "project",
    env: {
      ...trust.env,
      ...INSTALL_COMMANDS[packageManager].env(session.registryUrl),
      ...scriptEnvironment(context, packageManager),
      ...installedFolders(project),
    },
    mounts: trust.mounts,
    network: { kind: "proxy", socketPath: session.socketPath },
    argv: [node, `${scripts}/run-install-scripts.ts`, JSON.stringify(plan), `${scratch}/${reportName}`],
  });
}

/** The variables of install scripts. Those of the install itself turn scripts off. */
function scriptEnvironment(
  { toolchain, env }: BuildContext,
  manager: Project["packageManager"],
): Record<string, string> {
  const headers = nodeHeaders(toolchain);
  const title = manager === "yarn-berry" ? "yarn" : manager;
  return {
    PATH: `${env["PATH"] ?? toolchainEnvironment(toolchain)["PATH"]}:${SANDBOX_PATHS.scripts}/script-bin`,
    npm_config_ignore_scripts: "false",
    YARN_IGNORE_SCRIPTS: "false",
    npm_node_execpath: env["BUILD_NODE"] ?? SANDBOX_PATHS.node,
    NODE: env["BUILD_NODE"] ?? SANDBOX_PATHS.node,
    npm_command: "install",
    npm_config_user_agent: `${title}/0.0.0 npm/? node/${process.version} linux ${process.arch}`,
    // With it, node-gyp downloads no headers of Node.js.
    ...(headers === null || env["npm_config_nodedir"] !== undefined ? {} : { npm_config_nodedir: headers }),
    // Node.js connects through the proxy only with it, so that the package mirror can tell which hosts were requested.
    NODE_USE_ENV_PROXY: "1",
    ...WITHOUT_DOWNLOADS,
  };
}

/** Turns off what no build needs: hooks of git, browsers for tests, and messages. */
const WITHOUT_DOWNLOADS: Readonly<Record<string, string>> = {
  HUSKY: "0",
  LEFTHOOK: "0",
  SKIP_INSTALL_SIMPLE_GIT_HOOKS: "1",
  CYPRESS_INSTALL_BINARY: "0",
  PUPPETEER_SKIP_DOWNLOAD: "true",
  PUPPETEER_SKIP_CHROMIUM_DOWNLOAD: "true",
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: "1",
  ADBLOCK: "1",
  DISABLE_OPENCOLLECTIVE: "1",
  CHECKPOINT_DISABLE: "1",
};

/** Returns `null` when the scripts left no valid report. */
async function readReport(file: string): Promise<ScriptReport | null> {
  try {
    return reportSchema.parse(JSON.parse((await readUntrusted(file, MAX_REPORT_BYTES)) ?? ""));
  } catch {
    return null;
  }
}
