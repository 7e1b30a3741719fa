import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import path from "node:path";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import { ALL_REQUESTS, type PagesRoutes } from "./pages-modules.ts";
import { WRANGLER_CONFIGS } from "./wrangler-api.ts";
import { DEFAULT_COMPATIBILITY_DATE, writePagesConfig } from "./write-pages-config.ts";

/** The output folders of frameworks for Pages, besides the common ones. */
export const PAGES_OUTPUT_FOLDERS = [".svelte-kit/cloudflare", ".vercel/output/static", "public"];

const FUNCTIONS = "functions";
/** Created for a Pages project that has only functions. */
const NO_STATIC_FILES = ".wrangler/pages/static-files";
/** Where wrangler writes the rules that follow from the files in `functions`. */
const GENERATED_ROUTES = ".wrangler/pages/_routes.json";
const STATIC_CONFIG = ".wrangler/pages/static.json";
const MAX_ROUTES = 100;

/** How a Pages project is bundled. */
export interface PagesPlan {
  argv: string[];
  assets: { directory: string; rules: AssetRules };
  /** Reads the rules of the script, after wrangler has run; `null` for a project without a script. */
  readRoutes: () => PagesRoutes | null;
}

/** Whether the folder contains the script of a Pages project: one file, or a folder of modules. */
export function hasPagesScript(directory: string): boolean {
  return existsSync(path.join(directory, "_worker.js"));
}

/** Whether there are Pages Functions: handlers in the folder `functions`, which other platforms use too. */
export function hasPagesFunctions(): boolean {
  const handler = /\bexport\s+(async\s+)?(const|let|var|function\*?)\s+onRequest|\bexport\s*\{[^}]*\bonRequest/;
  return globSync(`${FUNCTIONS}/**/*.{js,mjs,ts,tsx,jsx}`)
    .filter((file) => !file.includes("node_modules") && statSync(file).isFile())
    .some((file) => handler.test(readFileSync(file, "utf8")));
}

/** Plans the bundle of a Pages project that has functions and no static files. */
export function planPagesFunctions(): PagesPlan {
  mkdirSync(NO_STATIC_FILES, { recursive: true });
  return planPages(NO_STATIC_FILES, false);
}

/**
 * Plans the bundle of a Pages project.
 *
 * @param directory - the folder of static files, relative to the root of the source
 * @param isConfigured - whether the wrangler configuration is the one of a Pages project
 * @throws {InvalidPagesProject} when the folder does not exist or `_routes.json` is invalid
 */
export function planPages(directory: string, isConfigured: boolean): PagesPlan {
  if (!existsSync(directory))
    throw new InvalidPagesProject(
      `The build wrote no folder "${directory}", which pages_build_output_dir names.`,
      "Set pages_build_output_dir in the wrangler configuration to the folder that the build writes.",
    );
  mkdirSync(".wrangler/pages", { recursive: true });
  const rules: AssetRules = {
    not_found_handling: existsSync(path.join(directory, "404.html")) ? "404-page" : "single-page-application",
  };
  const script = hasPagesScript(directory);
  if (!script && !hasPagesFunctions()) return planStaticPages(directory, rules);
  if (!isConfigured) createPagesConfig(directory);
  // On Pages, the settings of this environment apply to the deployments that everybody sees.
  process.env["PAGES_ENVIRONMENT"] = "production";
  const routesFile = path.join(directory, "_routes.json");
  const customRoutes = existsSync(routesFile) ? parseRoutes(readFileSync(routesFile, "utf8")) : null;
  const generated = () => (script ? ALL_REQUESTS : parseRoutes(readFileSync(GENERATED_ROUTES, "utf8")));
  return {
    argv: functionsBuild(directory),
    assets: { directory, rules: { ...rules, run_worker_first: true } },
    readRoutes: () => customRoutes ?? generated(),
  };
}

function functionsBuild(directory: string): string[] {
  // Wrangler reads the configuration only if it may write a file of metadata.
  const project = ["--project-directory", ".", "--build-metadata-path", ".wrangler/pages/metadata.json"];
  const output = ["--build-output-directory", directory, "--output-routes-path", GENERATED_ROUTES];
  return ["pages", "functions", "build", FUNCTIONS, ...project, ...output];
}

/** `wrangler deploy` refuses the configuration of a Pages project, so it gets another one. */
function planStaticPages(directory: string, rules: AssetRules): PagesPlan {
  writeFileSync(STATIC_CONFIG, JSON.stringify({ name: "app", compatibility_date: DEFAULT_COMPATIBILITY_DATE }));
  const argv = ["deploy", "--config", STATIC_CONFIG, "--assets", path.resolve(directory), "--dry-run"];
  return { argv, assets: { directory, rules }, readRoutes: () => null };
}

/** Writes a configuration for wrangler, because it takes no bindings from one without `pages_build_output_dir`. */
function createPagesConfig(directory: string): void {
  const hasConfig = WRANGLER_CONFIGS.some((name) => existsSync(name));
  if (!hasConfig) return writePagesConfig(null, directory);
  // In a process of its own: wrangler cannot run as the main module of a process that has loaded it before.
  const script = path.join(import.meta.dirname, "extend-pages-config.ts");
  const { status } = spawnSync(process.execPath, [script, directory], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/** A Pages project that cannot be bundled. The message and the advice are for the app's owner. */
export class InvalidPagesProject extends Error {
  override readonly name = "InvalidPagesProject";
  readonly advice: string;
  constructor(message: string, advice: string) {
    super(message);
    this.advice = advice;
  }
}

function invalidRoutes(reason: string): InvalidPagesProject {
  return new InvalidPagesProject(`_routes.json ${reason}`, "Correct or remove _routes.json, then deploy again.");
}

function parseRoutes(text: string): PagesRoutes {
  const { include, exclude = [] } = parseObject(text);
  if (!isRuleList(include) || !isRuleList(exclude) || include.length === 0)
    throw invalidRoutes('must have the lists "include" and "exclude" of paths that start with "/".');
  if (include.length + exclude.length > MAX_ROUTES) throw invalidRoutes(`has more than ${MAX_ROUTES} rules.`);
  return { include, exclude };
}

function parseObject(text: string): { include?: unknown; exclude?: unknown } {
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch {
    throw invalidRoutes("is not valid JSON.");
  }
}

function isRuleList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((rule) => typeof rule === "string" && /^\/.{0,99}$/.test(rule));
}
