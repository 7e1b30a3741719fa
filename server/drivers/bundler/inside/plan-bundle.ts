import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { DetectedFramework } from "@netlify/build-info";
import type { AssetRules, Runtime } from "../../../../domain/ports/bundler.ts";
import { buildsStaticFiles, detectFrameworks } from "./detect-frameworks.ts";
import { readDeployScript } from "./deploy-script.ts";
import { explainServerBuild } from "./explain-server-build.ts";
import { noHandler, noIndexPage, noStartCommand, nothingToDeploy, unsupportedContainers } from "./explain-plan.ts";
import { findServerBuild, type ServerBuild } from "./find-server-build.ts";
import { type HostingSettings, readHostingSettings } from "./hosting-settings.ts";
import { explainStart } from "./node-server/explain-start.ts";
import { findRequestedServer, findServerCommand, type ServerPlan, servesPages } from "./node-server/server-command.ts";
import { readServerDatabase } from "./node-server/server-database.ts";
import { readStartCommand } from "./node-server/start-command.ts";
import {
  findEntry,
  hasBuildScript,
  hasDependencies,
  isFile,
  type PackageJson,
  readPackageJson,
} from "./package-json.ts";
import type { PagesRoutes } from "./pages-modules.ts";
import {
  hasPagesFunctions,
  hasPagesScript,
  InvalidPagesProject,
  PAGES_OUTPUT_FOLDERS,
  type PagesPlan,
  planPages,
  planPagesFunctions,
} from "./plan-pages.ts";
import { hasIndexPage, listOutputFolders, prepareStaticSite, unbuiltFolders } from "./static-site.ts";
import { CONFIG_POINTER, WRANGLER_CONFIGS } from "./wrangler-api.ts";
import { DEFAULT_COMPATIBILITY_DATE } from "./write-pages-config.ts";

/** What wrangler bundles. `assets` is null when wrangler's configuration decides about static files. */
export interface BundlePlan {
  /** The arguments of wrangler, without the name of the output file. */
  argv: string[];
  framework: string | null;
  assets: { directory: string; rules: AssetRules } | null;
  /** For a Pages project; otherwise `null`. */
  pages: { readRoutes: () => PagesRoutes | null } | null;
  /** Whether there are only static files, and no configuration says how to serve them. */
  isStaticSite?: boolean;
  /** What the owner should know about static files; otherwise absent. */
  warnings?: string[];
}

interface BundleFailure {
  failure: { message: string; advice: string };
}

/** A path without a file gets the response of the server. */
const SERVER_RULES: AssetRules = { not_found_handling: "none" };

/** How the project starts its own server, which needs no bundle. */
interface NodePlan {
  server: ServerPlan;
}

/**
 * Decides what to bundle, by the files that exist after the build. The current folder is that of the package.
 *
 * @param runtime - how the owner wants the app to run; `null` to detect it
 */
export async function planBundle(runtime: Runtime | null): Promise<BundlePlan | NodePlan | BundleFailure> {
  const packageJson = readPackageJson();
  const frameworks = hasDependencies(packageJson) ? await detectFrameworks() : [];
  if (runtime === "node") return planRequestedServer(packageJson, frameworks[0]?.id ?? null);
  return planDetected(packageJson, frameworks, runtime);
}

async function planRequestedServer(packageJson: PackageJson, framework: string | null) {
  const command = await findRequestedServer(packageJson, framework);
  return command === null ? { failure: noStartCommand(packageJson) } : planServer(packageJson, framework, command);
}

async function planDetected(
  packageJson: PackageJson,
  frameworks: readonly DetectedFramework[],
  runtime: "worker" | null,
): Promise<BundlePlan | NodePlan | BundleFailure> {
  const framework = frameworks[0]?.id ?? null;
  const config = readEffectiveConfig();
  const date = config?.text.includes("compatibility_date") ? [] : ["--compatibility-date", DEFAULT_COMPATIBILITY_DATE];

  if (config && /^\[\[containers\]\]|"containers"\s*:\s*\[/m.test(config.text))
    return { failure: unsupportedContainers() };
  const pagesDirectory = config && configuredPagesDirectory(config);
  if (pagesDirectory !== null) return planPagesProject(framework, () => planPages(pagesDirectory, true));
  // A text search is enough here: a false match only leaves the decision to wrangler, which parses the configuration.
  if (config && /\b(main|assets|site)["']?\s*[:=\]]/.test(config.text))
    return { argv: deployment(date), framework, assets: null, pages: null };

  const deployed = readDeployScript(packageJson);
  const { pages: deployedPages = null, entry: deployedEntry = null } = deployed ?? {};
  if (deployedPages !== null) return planPagesProject(framework, () => planPages(deployedPages, false));
  if (deployedEntry !== null) return planScript(date, framework, deployedEntry, deployed?.assets ?? null);
  const isStatic = buildsStaticFiles(frameworks);
  const hosting = config === null ? readHostingSettings() : null;
  const outputs = listOutputFolders(frameworks, hosting);
  const scripted = [...outputs, ...PAGES_OUTPUT_FOLDERS].find(hasPagesScript);
  if (scripted !== undefined) return planPagesProject(framework, () => planPages(scripted, false));
  const hasBuild = hasBuildScript(packageJson) || hosting?.buildCommand != null;
  const built = isStatic || hasBuild ? outputs.find(hasIndexPage) : undefined;
  const unbuilt = isStatic || hasBuild ? undefined : unbuiltFolders(hosting).find(hasIndexPage);
  const pages = built ?? unbuilt;
  if (hasPagesFunctions())
    return planPagesProject(framework, () => (pages === undefined ? planPagesFunctions() : planPages(pages, false)));
  const entry = findEntry(packageJson);
  const command = runtime === "worker" ? null : readStartCommand(packageJson);
  const serverBuild = findServerBuild(framework);
  if (serverBuild !== null && built === undefined) return planServerBuild(date, framework, serverBuild);
  const site = isStatic || entry === undefined ? built : undefined;
  const mayServe = runtime !== "worker" && (site === undefined || (await servesPages(packageJson)));
  const server = mayServe ? await findServerCommand(packageJson, framework, entry) : null;
  if (server !== null) return planServer(packageJson, framework, server);
  if (site !== undefined) return planStaticFiles(date, framework, site, hosting);
  if (entry !== undefined && !isStatic) {
    const failure = explainStart(command, entry);
    if (failure !== null) return { failure: runtime === "worker" ? noHandler(entry) : failure };
    return planScript(date, framework, entry, null);
  }
  if (unbuilt !== undefined) return planStaticFiles(date, framework, unbuilt, hosting);
  return { failure: isStatic ? (explainServerBuild(framework) ?? noIndexPage(outputs)) : nothingToDeploy(command) };
}

/** Wrangler requires a name. The platform replaces it. */
function deployment(argv: readonly string[]): string[] {
  return ["deploy", ...argv, "--name", "app", "--dry-run"];
}

function planServer(packageJson: PackageJson, framework: string | null, command: string): NodePlan {
  createEnvironmentFiles(command);
  const database = readServerDatabase(packageJson, command);
  return { server: { command, framework: framework ?? "node", database } };
}

/** The files of `--env-file`, which Node.js requires. They are in no repository: variables of the app take their place. */
function createEnvironmentFiles(command: string): void {
  for (const [, file = ""] of command.matchAll(/--env-file[= ](\.?[\w-][\w.-]*)/g))
    if (!existsSync(file)) writeFileSync(file, "");
}

function planPagesProject(framework: string | null, plan: () => PagesPlan): BundlePlan | BundleFailure {
  try {
    const { argv, assets, readRoutes } = plan();
    return { argv, framework, assets, pages: { readRoutes } };
  } catch (error) {
    if (!(error instanceof InvalidPagesProject)) throw error;
    return { failure: { message: error.message, advice: error.advice } };
  }
}

function planStaticFiles(
  date: readonly string[],
  framework: string | null,
  directory: string,
  hosting: HostingSettings | null,
): BundlePlan {
  const { rules, warnings } = prepareStaticSite(directory, framework, hosting);
  const argv = deployment(["--assets", directory, ...date]);
  return { argv, framework, assets: { directory, rules }, pages: null, isStaticSite: true, warnings };
}

/** A script, and the folder of static files that the script `deploy` of package.json names. */
function planScript(
  date: readonly string[],
  framework: string | null,
  entry: string,
  directory: string | null,
): BundlePlan {
  const argv = deployment([entry, ...(directory === null ? [] : ["--assets", directory]), ...date]);
  return { argv, framework, assets: directory === null ? null : { directory, rules: {} }, pages: null };
}

function planServerBuild(date: readonly string[], framework: string | null, build: ServerBuild): BundlePlan {
  const flags = ["--compatibility-flags", "nodejs_compat"];
  return {
    argv: deployment([build.script, "--assets", build.assets, ...date, ...flags]),
    framework,
    assets: { directory: build.assets, rules: SERVER_RULES },
    pages: null,
  };
}

interface ConfigFile {
  file: string;
  /** The content, without lines that are comments. */
  text: string;
}

/** Reads the configuration that wrangler will use. A build may have written one, with a pointer to it. */
function readEffectiveConfig(): ConfigFile | null {
  const generated = existsSync(CONFIG_POINTER) ? readConfigPointer(CONFIG_POINTER) : undefined;
  if (generated !== undefined && isFile(generated)) correctName(generated);
  const file = generated ?? WRANGLER_CONFIGS.find((name) => existsSync(name));
  if (file === undefined || !isFile(file)) return null;
  return { file, text: readFileSync(file, "utf8").replaceAll(/^\s*(\/\/|#).*$/gm, "") };
}

/**
 * Replaces a name that wrangler refuses in a configuration that the build wrote. Nitro makes the name from that of the package,
 * such as `-acme-web` from `@acme/web`. The platform does not use it.
 */
function correctName(file: string): void {
  try {
    const config = JSON.parse(readFileSync(file, "utf8")) as { name?: unknown };
    if (typeof config.name !== "string" || /^[a-z0-9_][a-z0-9-_]*$/.test(config.name)) return;
    writeFileSync(file, JSON.stringify({ ...config, name: "app" }));
  } catch {
    // Wrangler reads the same file and reports the error.
  }
}

/** The folder of static files that the configuration of a Pages project names, relative to the current folder. */
function configuredPagesDirectory({ file, text }: ConfigFile): string | null {
  const directory = /\bpages_build_output_dir["']?\s*[:=]\s*["']([^"']+)["']/.exec(text)?.[1];
  if (directory === undefined) return null;
  return path.relative(process.cwd(), path.resolve(path.dirname(file), directory)) || ".";
}

function readConfigPointer(pointer: string): string | undefined {
  try {
    const { configPath } = JSON.parse(readFileSync(pointer, "utf8")) as { configPath?: unknown };
    return typeof configPath === "string" ? path.resolve(path.dirname(pointer), configPath) : undefined;
  } catch {
    // Wrangler reads the same file and reports the error.
    return undefined;
  }
}
