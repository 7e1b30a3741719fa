import { randomUUID } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { BundleResult } from "../read-bundle-result.ts";
import { ancestorFolders } from "./ancestor-folders.ts";
import { describeIgnoredRules } from "./ignored-rules.ts";
import { listIgnoredAssets } from "./list-ignored-assets.ts";
import type { BundlePlan } from "./plan-bundle.ts";
import { CONFIG_POINTER, WRANGLER_CONFIGS } from "./wrangler-api.ts";
import { DEFAULT_COMPATIBILITY_DATE } from "./write-pages-config.ts";

/** The script of a bundle that has only static files. It is in wrangler's package. */
const NO_OP_SCRIPT = "no-op-worker.js";

/** Variables that configure wrangler, except those of the toolchain. */
const WRANGLER_VARIABLE = /\b(CLOUDFLARE|CF|WRANGLER)_(?!SEND_METRICS\b|SEND_ERROR_REPORTS\b|HIDE_BANNER\b)\w/;

/** Wrangler refuses larger files. */
const MAX_FILE_BYTES = 25 * 1024 * 1024;

/**
 * Writes what wrangler would write for static files, without wrangler: its start takes longer than the rest of such a bundle
 * step. Does so only if wrangler would find nothing that configures it, and nothing to refuse or to warn about.
 *
 * @param wrangler - the path of wrangler's script
 * @returns `null` if wrangler has to bundle the project
 */
export function bundleStaticFiles(
  { framework, assets, isStaticSite, warnings = [] }: BundlePlan,
  wrangler: string,
  formFile: string,
): BundleResult | null {
  if (isStaticSite !== true || assets === null || isWranglerConfigured()) return null;
  const entries = countEntries(assets.directory);
  if (entries === null) return null;
  const script = readFileSync(path.join(path.dirname(wrangler), "../templates", NO_OP_SCRIPT));
  writeFileSync(formFile, createForm(script));
  const ignored = listIgnoredAssets(assets.directory, false);
  printSummary(assets.directory, entries, script);
  const ignoredRules = describeIgnoredRules(assets.directory, assets.rules);
  return { framework, assets: { ...assets, ignored }, migrations: [], warnings: [...ignoredRules, ...warnings] };
}

/** Whether wrangler would find a configuration, here or in a folder above, or variables for it. */
function isWranglerConfigured(): boolean {
  const names = [...WRANGLER_CONFIGS, CONFIG_POINTER];
  const files = ancestorFolders(process.cwd()).flatMap((folder) => names.map((name) => path.join(folder, name)));
  if (files.some((file) => existsSync(file))) return true;
  if (Object.keys(process.env).some((name) => WRANGLER_VARIABLE.test(name))) return true;
  // A text search is enough here: a false match only leaves the decision to wrangler.
  return readdirSync(".", { withFileTypes: true })
    .filter(({ name }) => name.startsWith(".env"))
    .some((entry) => !entry.isFile() || WRANGLER_VARIABLE.test(readFileSync(entry.name, "utf8")));
}

/**
 * Counts the files and folders in a folder.
 *
 * @returns `null` if wrangler may refuse one of them
 */
function countEntries(directory: string): number | null {
  if (!lstatSync(directory).isDirectory()) return null;
  const names = readdirSync(directory);
  if (names.some((name) => name.startsWith("_worker.js"))) return null;
  const settings = names.filter((name) => [".assetsignore", "_headers", "_redirects"].includes(name));
  if (!settings.every((name) => isTextFile(path.join(directory, name)))) return null;
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const isAccepted = entries.every(
    (entry) => entry.isDirectory() || isSmallFile(path.join(entry.parentPath, entry.name)),
  );
  return isAccepted ? entries.length : null;
}

/** A link is not a file here. */
function isSmallFile(file: string): boolean {
  const status = lstatSync(file, { throwIfNoEntry: false });
  return status?.isFile() === true && status.size <= MAX_FILE_BYTES;
}

function isTextFile(file: string): boolean {
  if (!isSmallFile(file)) return false;
  const text = readFileSync(file).toString("utf8");
  return !/[\0\uFFFD]/.test(text);
}

/** Written as text, because Node takes a fifth of this bundle step to load its own forms. */
function createForm(script: Buffer): string {
  const metadata = {
    main_module: NO_OP_SCRIPT,
    bindings: [],
    compatibility_date: DEFAULT_COMPATIBILITY_DATE,
    compatibility_flags: [],
    keep_bindings: ["secret_text", "secret_key"],
  };
  const module = `name="${NO_OP_SCRIPT}"; filename="${NO_OP_SCRIPT}"\r\nContent-Type: application/javascript+module`;
  const parts = [`name="metadata"\r\n\r\n${JSON.stringify(metadata)}`, `${module}\r\n\r\n${script.toString()}`];
  const boundary = `----static-files-${randomUUID()}`;
  return `${parts.map((part) => `--${boundary}\r\nContent-Disposition: form-data; ${part}\r\n`).join("")}--${boundary}--\r\n`;
}

/** Prints the lines that wrangler prints. */
function printSummary(directory: string, entries: number, script: Buffer): void {
  const files = `${entries} file${entries === 1 ? "" : "s"}`;
  console.log(`✨ Read ${files} from the assets directory ${path.resolve(directory)}`);
  console.log(`Total Upload: ${formatSize(script)} / gzip: ${formatSize(gzipSync(script))}`);
  console.log("No bindings found.");
}

function formatSize({ byteLength }: Uint8Array): string {
  return `${(byteLength / 1024).toFixed(2)} KiB`;
}
