import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import { buildsStaticFiles, detectFrameworks } from "./detect-frameworks.ts";

/** For apps that name no compatibility date. A fixed day, so that the platform's updates change no app by themselves. */
const DEFAULT_COMPATIBILITY_DATE = "2026-07-01";

const WRANGLER_CONFIGS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

const EXTENSIONS = ["ts", "tsx", "mts", "js", "jsx", "mjs"];
const STEMS = ["src/index", "src/worker", "index", "worker"];
const ENTRIES = STEMS.flatMap((stem) => EXTENSIONS.map((extension) => `${stem}.${extension}`));

/** Where builds leave their pages, beside the place that the framework names. */
const OUTPUTS = ["dist", "build", "out", "_site"];

/** What wrangler is to bundle. `assets` is null when its configuration, and not this plan, says where they are. */
export interface BundlePlan {
  argv: string[];
  framework: string | null;
  assets: { directory: string; rules: AssetRules } | null;
}

interface Manifest {
  main?: unknown;
  scripts?: Record<string, unknown>;
  dependencies?: object;
  devDependencies?: object;
}

/** Decides from what is there after the build, with the current folder as the root of the source. */
export async function planBundle(): Promise<BundlePlan | { failure: { message: string; advice: string } }> {
  const manifest = readManifest();
  const frameworks = hasDependencies(manifest) ? await detectFrameworks() : [];
  const framework = frameworks[0]?.id ?? null;
  const config = effectiveConfig();
  const argv = config?.includes("compatibility_date") ? [] : ["--compatibility-date", DEFAULT_COMPATIBILITY_DATE];

  // What does not look like a key is certainly none. Of what does, wrangler knows best what it means.
  if (config && /\b(main|assets|site|pages_build_output_dir)["']?\s*[:=\]]/.test(config))
    return { argv, framework, assets: null };

  const isStatic = buildsStaticFiles(frameworks);
  const outputs = frameworks.length > 0 ? [...frameworks.map((each) => each.build.directory), ...OUTPUTS] : OUTPUTS;
  const built = isStatic || hasBuildScript(manifest) ? outputs.find(hasIndexPage) : undefined;
  const entry = findEntry(manifest);
  if (built !== undefined && (isStatic || entry === undefined)) return staticFiles(argv, framework, built);
  if (entry !== undefined && !isStatic) return { argv: [entry, ...argv], framework, assets: null };
  const page = hasBuildScript(manifest) || isStatic ? undefined : ["public", "."].find(hasIndexPage);
  if (page !== undefined) return staticFiles(argv, framework, page);
  return { failure: nothingToDeploy(isStatic ? outputs : null) };
}

function staticFiles(argv: string[], framework: string | null, directory: string): BundlePlan {
  const rules: AssetRules = { not_found_handling: notFoundHandling(directory, framework) };
  return { argv: ["--assets", directory, ...argv], framework, assets: { directory, rules } };
}

/** Frameworks whose pages are drawn by the browser, which therefore also resolves the paths. */
const SINGLE_PAGE_FRAMEWORKS = new Set(["vite", "create-react-app", "vue", "svelte", "angular", "parcel", "ember"]);

function notFoundHandling(directory: string, framework: string | null): AssetRules["not_found_handling"] {
  if (existsSync(path.join(directory, "404.html"))) return "404-page";
  return framework !== null && SINGLE_PAGE_FRAMEWORKS.has(framework) ? "single-page-application" : "none";
}

/** The configuration as wrangler will find it: a build may leave a pointer to one that it generated. */
function effectiveConfig(): string | null {
  const pointer = ".wrangler/deploy/config.json";
  const redirected = existsSync(pointer) ? redirectTarget(pointer) : undefined;
  const file = redirected ?? WRANGLER_CONFIGS.find((name) => existsSync(name));
  return file === undefined || !isFile(file) ? null : readFileSync(file, "utf8");
}

function redirectTarget(pointer: string): string | undefined {
  try {
    const { configPath } = JSON.parse(readFileSync(pointer, "utf8")) as { configPath?: unknown };
    return typeof configPath === "string" ? path.resolve(path.dirname(pointer), configPath) : undefined;
  } catch {
    // Wrangler reads it too and says what is wrong with it.
    return undefined;
  }
}

function findEntry({ main }: Manifest): string | undefined {
  const named = typeof main === "string" ? [path.normalize(main)] : [];
  const usable = named.filter(
    (file) => !file.startsWith("..") && !path.isAbsolute(file) && /\.[mc]?[jt]sx?$/.test(file),
  );
  return [...usable, ...ENTRIES].find(isFile);
}

function nothingToDeploy(outputs: readonly string[] | null): { message: string; advice: string } {
  if (outputs !== null)
    return {
      message: `The build left no index.html in ${listed([...new Set(outputs)])}`,
      advice:
        "Make the build write its pages to one of these folders, or say where they are with assets.directory in wrangler.jsonc.",
    };
  return {
    message: "There is nothing to deploy: no wrangler configuration, no script and no index.html was found",
    advice: `Add one of these: wrangler.jsonc with main or assets; "main" in package.json; ${STEMS.map((stem) => `${stem}.ts`).join(", ")} (or .tsx, .mts, .js, .jsx, .mjs); public/index.html; index.html.`,
  };
}

function listed(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : `${names[0]}`;
}

function readManifest(): Manifest {
  // A link counts as none, as it does for the host, which has read the file before and found it in order.
  const isThere = lstatSync("package.json", { throwIfNoEntry: false })?.isFile() ?? false;
  return isThere ? (JSON.parse(readFileSync("package.json", "utf8").replace(/^\uFEFF/, "")) as Manifest) : {};
}

function hasDependencies({ dependencies, devDependencies }: Manifest): boolean {
  return Object.keys({ ...dependencies, ...devDependencies }).length > 0;
}

function hasBuildScript({ scripts }: Manifest): boolean {
  return typeof scripts?.["build"] === "string";
}

function hasIndexPage(directory: string): boolean {
  return isFile(path.join(directory, "index.html"));
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}
