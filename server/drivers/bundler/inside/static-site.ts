import { appendFileSync, existsSync, globSync } from "node:fs";
import path from "node:path";
import type { DetectedFramework } from "@netlify/build-info";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import type { HostingSettings } from "./hosting-settings.ts";
import { hasCatchAllRule } from "./ignored-rules.ts";
import { describeOtherLanguage, isTemplateOfJekyll } from "./other-languages.ts";
import { isFile } from "./package-json.ts";
import { moveToBasePath } from "./base-path.ts";
import { describeUndeployedServer } from "./undeployed-server.ts";

/** Folders that build scripts commonly write to, besides the output folder of the framework. */
const OUTPUT_FOLDERS = [".output/public", "dist", "build", "out", "_site", "www"];

/** Angular writes to a folder with the name of the project, VitePress and VuePress to one below their pages. */
const OUTPUT_PATTERNS = ["dist/*/browser", ".vitepress/dist", "*/.vitepress/dist", "*/.vuepress/dist"];

/** Lists where the pages of a build can be, the most certain folder first. */
export function listOutputFolders(frameworks: readonly DetectedFramework[], hosting: HostingSettings | null): string[] {
  const folders = frameworks.map((each) => each.build.directory);
  const ofAngular = frameworks.some(({ id }) => id === "angular") ? globSync("dist/*/") : [];
  const configured = hosting?.outputDirectory == null ? [] : [hosting.outputDirectory];
  return [...configured, ...folders, ...OUTPUT_FOLDERS, ...globSync(OUTPUT_PATTERNS), ...ofAngular];
}

/** Where pages are that no build writes. */
export function unbuiltFolders(hosting: HostingSettings | null): string[] {
  return hosting?.outputDirectory == null ? ["public", "."] : [hosting.outputDirectory, "public", "."];
}

export function hasIndexPage(directory: string): boolean {
  const page = path.join(directory, "index.html");
  return isFile(page) && !isTemplateOfJekyll(page);
}

/** Adds the rules of another host to the static files of a site, and moves them to the path that its pages expect. */
export function prepareStaticSite(
  directory: string,
  framework: string | null,
  hosting: HostingSettings | null,
): { rules: AssetRules; warnings: string[] } {
  const warnings = [...describeOtherLanguage(), ...describeUndeployedServer(directory)];
  if (hosting !== null) {
    const { redirects, headers, ignored } = hosting.rules;
    addLines(path.join(directory, "_redirects"), redirects);
    addLines(path.join(directory, "_headers"), headers);
    if (ignored.length > 0) warnings.push(describeIgnored(hosting.file, ignored));
  }
  const not_found_handling = notFoundHandling(directory, framework, hosting);
  warnings.push(...moveToBasePath(directory));
  const html_handling = hosting?.htmlHandling;
  return { rules: { not_found_handling, ...(html_handling && { html_handling }) }, warnings };
}

const MAX_IGNORED = 5;

function describeIgnored(file: string, ignored: readonly string[]): string {
  const more = ignored.length > MAX_IGNORED ? `, and ${ignored.length - MAX_IGNORED} more` : "";
  return `The platform ignores these settings of ${file}: ${ignored.slice(0, MAX_IGNORED).join(", ")}${more}.`;
}

function addLines(file: string, lines: readonly string[]): void {
  if (lines.length > 0) appendFileSync(file, `\n${lines.join("\n")}\n`);
}

/** Frameworks of single-page applications: the browser resolves the paths, so every path gets the same page. */
const SINGLE_PAGE_FRAMEWORKS = new Set([
  ...["vite", "create-react-app", "vue", "svelte", "angular", "parcel", "ember"],
  ...["solid-js", "tanstack-router", "quasar", "stencil", "expo"],
]);

function notFoundHandling(
  directory: string,
  framework: string | null,
  hosting: HostingSettings | null,
): AssetRules["not_found_handling"] {
  if (hosting?.rules.isSinglePage === true) return "single-page-application";
  if (existsSync(path.join(directory, "404.html"))) return "404-page";
  const isSinglePage = framework !== null && SINGLE_PAGE_FRAMEWORKS.has(framework);
  return isSinglePage || hasCatchAllRule(directory) ? "single-page-application" : "none";
}
