import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import { buildsStaticFiles, detectFrameworks } from "./detect-frameworks.ts";

/** For apps without a compatibility date. It is fixed, so that updates of the platform do not change existing apps. */
const DEFAULT_COMPATIBILITY_DATE = "2026-07-01";

const WRANGLER_CONFIGS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

const EXTENSIONS = ["ts", "tsx", "mts", "js", "jsx", "mjs"];
const STEMS = ["src/index", "src/worker", "index", "worker"];
const ENTRIES = STEMS.flatMap((stem) => EXTENSIONS.map((extension) => `${stem}.${extension}`));

/** Folders that build scripts commonly write to, besides the output folder of the framework. */
const OUTPUT_FOLDERS = ["dist", "build", "out", "_site"];

/** What wrangler bundles. `assets` is null when wrangler's configuration decides about static files. */
export interface BundlePlan {
  argv: string[];
  framework: string | null;
  assets: { directory: string; rules: AssetRules } | null;
}

interface PackageJson {
  main?: unknown;
  scripts?: Record<string, unknown>;
  dependencies?: object;
  devDependencies?: object;
}

/** Decides what to bundle, by the files that exist after the build. The current folder is the root of the source. */
export async function planBundle(): Promise<BundlePlan | { failure: { message: string; advice: string } }> {
  const packageJson = readPackageJson();
  const frameworks = hasDependencies(packageJson) ? await detectFrameworks() : [];
  const framework = frameworks[0]?.id ?? null;
  const config = readEffectiveConfig();
  const argv = config?.includes("compatibility_date") ? [] : ["--compatibility-date", DEFAULT_COMPATIBILITY_DATE];

  // A text search is enough here: a false match only leaves the decision to wrangler, which parses the configuration.
  if (config && /\b(main|assets|site|pages_build_output_dir)["']?\s*[:=\]]/.test(config))
    return { argv, framework, assets: null };

  const isStatic = buildsStaticFiles(frameworks);
  const outputs = [...frameworks.map((each) => each.build.directory), ...OUTPUT_FOLDERS];
  const built = isStatic || hasBuildScript(packageJson) ? outputs.find(hasIndexPage) : undefined;
  const entry = findEntry(packageJson);
  if (built !== undefined && (isStatic || entry === undefined)) return planStaticFiles(argv, framework, built);
  if (entry !== undefined && !isStatic) return { argv: [entry, ...argv], framework, assets: null };
  const unbuilt = hasBuildScript(packageJson) || isStatic ? undefined : ["public", "."].find(hasIndexPage);
  if (unbuilt !== undefined) return planStaticFiles(argv, framework, unbuilt);
  return { failure: isStatic ? noIndexPage(outputs) : nothingToDeploy() };
}

function planStaticFiles(argv: string[], framework: string | null, directory: string): BundlePlan {
  const rules: AssetRules = { not_found_handling: notFoundHandling(directory, framework) };
  return { argv: ["--assets", directory, ...argv], framework, assets: { directory, rules } };
}

/** Frameworks of single-page applications: the browser resolves the paths, so every path gets the same page. */
const SINGLE_PAGE_FRAMEWORKS = new Set(["vite", "create-react-app", "vue", "svelte", "angular", "parcel", "ember"]);

function notFoundHandling(directory: string, framework: string | null): AssetRules["not_found_handling"] {
  if (existsSync(path.join(directory, "404.html"))) return "404-page";
  return framework !== null && SINGLE_PAGE_FRAMEWORKS.has(framework) ? "single-page-application" : "none";
}

/** Reads the configuration that wrangler will use. A build may have written one, with a pointer to it. */
function readEffectiveConfig(): string | null {
  const pointer = ".wrangler/deploy/config.json";
  const generated = existsSync(pointer) ? readConfigPointer(pointer) : undefined;
  const file = generated ?? WRANGLER_CONFIGS.find((name) => existsSync(name));
  return file === undefined || !isFile(file) ? null : readFileSync(file, "utf8");
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

function findEntry({ main }: PackageJson): string | undefined {
  const declared = typeof main === "string" ? [path.normalize(main)] : [];
  const usable = declared.filter(
    (file) => !file.startsWith("..") && !path.isAbsolute(file) && /\.[mc]?[jt]sx?$/.test(file),
  );
  return [...usable, ...ENTRIES].find(isFile);
}

function noIndexPage(outputs: readonly string[]): { message: string; advice: string } {
  return {
    message: `The build wrote no index.html to ${formatList([...new Set(outputs)])}.`,
    advice:
      "Make the build write its pages to one of these folders, or set assets.directory in wrangler.jsonc to another folder.",
  };
}

function nothingToDeploy(): { message: string; advice: string } {
  const scripts = STEMS.map((stem) => `${stem}.ts`).join(", ");
  return {
    message: "There is nothing to deploy: no wrangler configuration, no script and no index.html was found.",
    advice: `Add one of these: wrangler.jsonc with main or assets; "main" in package.json; ${scripts} (or .tsx, .mts, .js, .jsx, .mjs); public/index.html; index.html.`,
  };
}

function formatList(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : `${names[0]}`;
}

function readPackageJson(): PackageJson {
  // A link is treated as absent, as on the host, which has validated a regular file before.
  const exists = lstatSync("package.json", { throwIfNoEntry: false })?.isFile() ?? false;
  return exists ? (JSON.parse(readFileSync("package.json", "utf8").replace(/^\uFEFF/, "")) as PackageJson) : {};
}

function hasDependencies({ dependencies, devDependencies }: PackageJson): boolean {
  return Object.keys({ ...dependencies, ...devDependencies }).length > 0;
}

function hasBuildScript({ scripts }: PackageJson): boolean {
  return typeof scripts?.["build"] === "string";
}

function hasIndexPage(directory: string): boolean {
  return isFile(path.join(directory, "index.html"));
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}
