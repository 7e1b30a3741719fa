import {
  copyFileSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

const PAGE = "index.html";
/** Files that work at the root of the static files only. */
const ROOT_FILES = [PAGE, "404.html", "_headers", "_redirects"];
const SCRIPT_OR_STYLE = /<(?:script|link)\b[^>]*?\b(?:src|href)\s*=\s*["']?(\/(?!\/)[^"'\s>?#]+\.(?:m?js|css))\b/gi;

/** Scripts and styles on another host. */
const ON_OTHER_HOST = /<(?:script|link)\b[^>]*?\b(?:src|href)\s*=\s*["']?(https?:\/\/[^"'\s>?#]+\.(?:m?js|css))\b/gi;

/**
 * Moves the static files to the path that the build was configured for, such as `/name` for GitHub Pages: its pages name their
 * scripts with this path. `/` then redirects to it.
 *
 * @returns warnings
 */
export function moveToBasePath(directory: string): string[] {
  const page = readFileSync(path.join(directory, PAGE), "utf8");
  const missing = findMissingFiles(directory, page);
  const base = findBasePath(directory, missing);
  // At the root of the repository there are other files too.
  const isBuilt = path.normalize(directory) !== ".";
  if (base === null || !isBuilt) return [...describeMissing(missing), ...replaceOtherHost(directory, page, isBuilt)];
  const moved = `${directory}.moved`;
  renameSync(directory, moved);
  mkdirSync(path.join(directory, path.dirname(base)), { recursive: true });
  renameSync(moved, path.join(directory, base));
  for (const name of ROOT_FILES)
    if (existsSync(path.join(directory, base, name)))
      copyFileSync(path.join(directory, base, name), path.join(directory, name));
  const rules = path.join(directory, "_redirects");
  const others = existsSync(rules) ? readFileSync(rules, "utf8") : "";
  writeFileSync(rules, `/ /${base}/ 302\n${others}`);
  return [
    `The pages were built for the path /${base}/, so they are served there, and / redirects to it. To serve them at /, remove the base path from the configuration of the build: base (Vite), homepage (package.json) or pathPrefix.`,
  ];
}

/** The scripts and styles of the page that do not exist. */
function findMissingFiles(directory: string, page: string): string[] {
  const files = [...page.matchAll(SCRIPT_OR_STYLE)].map(([, file = ""]) => path.normalize(decode(file)).slice(1));
  // Vercel serves these itself.
  return files.filter((file) => !file.startsWith("_vercel/") && !existsSync(path.join(directory, file)));
}

/** The folders at the start of all these paths without which the files exist; `null` if there are none. */
function findBasePath(directory: string, files: readonly string[]): string | null {
  const segments = files[0]?.split("/") ?? [];
  for (let count = 1; count < segments.length; count++) {
    const base = segments.slice(0, count).join("/");
    const isBase = (file: string) =>
      file.startsWith(`${base}/`) && existsSync(path.join(directory, file.slice(base.length + 1)));
    if (files.every(isBase)) return base;
  }
  return null;
}

const MAX_LISTED = 3;

function describeMissing(files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const listed = files.slice(0, MAX_LISTED).map((file) => `/${file}`);
  return [`index.html loads ${listed.join(", ")}, which the static files do not have.`];
}

/** Files of a build that may contain the address for which it was built. */
const TEXTS = "**/*.{html,css,js,mjs,json,webmanifest}";
const MAX_TEXT_BYTES = 8 * 1024 * 1024;

/**
 * A build for another address, such as one with `base: "https://example.com/app/"`, loads its own files from there. Replaces the
 * address, so that the files are loaded from this app. Pages that check hashes of their files are not changed.
 *
 * @returns warnings
 */
function replaceOtherHost(directory: string, page: string, isBuilt: boolean): string[] {
  const address = findOtherAddress(directory, page);
  if (address === null) return [];
  const change =
    "To change that, set the base path of the build to /: base (Vite), homepage (package.json) or publicPath.";
  if (!isBuilt || /\bintegrity\s*=/i.test(page))
    return [`index.html loads its files from ${address}, not from this app. ${change}`];
  for (const name of globSync(TEXTS, { cwd: directory })) {
    const file = path.join(directory, name);
    const status = lstatSync(file);
    if (!status.isFile() || status.size > MAX_TEXT_BYTES) continue;
    const text = readFileSync(file, "utf8");
    if (text.includes(address)) writeFileSync(file, text.replaceAll(address, "/"));
  }
  return [`The build was made for ${address}. This address was replaced by / in its files. ${change}`];
}

/** The address of another host from which a page loads a file that the build has; `null` if there is none. */
function findOtherAddress(directory: string, page: string): string | null {
  for (const [, url = ""] of page.matchAll(ON_OTHER_HOST)) {
    if (!URL.canParse(url)) continue;
    const { origin, pathname } = new URL(url);
    const segments = decode(pathname).split("/").slice(1);
    const count = segments.findIndex((_, at) => existsSync(path.join(directory, ...segments.slice(at))));
    if (count >= 0) return [origin, ...segments.slice(0, count), ""].join("/");
  }
  return null;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
