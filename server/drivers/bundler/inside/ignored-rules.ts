import { lstatSync, readFileSync } from "node:fs";
import path from "node:path";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";

/** A line of `_redirects` or `_headers` that the edge platform ignores. */
export interface IgnoredRule {
  /** 1 for the first line. */
  line: number;
  text: string;
  reason: string;
}

const MAX_LINE_LENGTH = 2000;
const MAX_STATIC_REDIRECTS = 2000;
const MAX_DYNAMIC_REDIRECTS = 100;
const MAX_HEADER_RULES = 100;

const STATUSES: ReadonlySet<string> = new Set(["200", "301", "302", "303", "307", "308"]);

const LOOP = "It would redirect to itself, because the platform removes /index.html from paths.";

/** Serves one page at all paths, in the syntax of other hosts. */
const CATCH_ALL = /^\/\*\s+\/(index(\.html)?)?\s+200!?(\s+#.*)?$/;

/** Whether `_redirects` in a folder has a rule that serves index.html at all paths. */
export function hasCatchAllRule(directory: string): boolean {
  return readLines(path.join(directory, "_redirects")).some((line) => CATCH_ALL.test(line));
}

/** Warns of the lines of `_redirects` and `_headers` in a folder of static files that the edge platform ignores. */
export function describeIgnoredRules(directory: string, rules: AssetRules): string[] {
  const redirects = findIgnoredRedirects(readLines(path.join(directory, "_redirects")), rules);
  const headers = findIgnoredHeaders(readLines(path.join(directory, "_headers")));
  return [...describe("_redirects", redirects), ...describe("_headers", headers)];
}

/** How many lines a warning names, and how much it quotes of each. */
const MAX_NAMED = 3;
const MAX_QUOTED = 80;

function describe(file: string, ignored: readonly IgnoredRule[]): string[] {
  if (ignored.length === 0) return [];
  const named = ignored.slice(0, MAX_NAMED).map(({ line, text, reason }) => {
    const quoted = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
    return `Line ${line} (${quoted}): ${reason}`;
  });
  const count = ignored.length === 1 ? "1 line of it is" : `${ignored.length} lines of it are`;
  return [`${file}: ${count} ignored. ${named.join(" ")}`];
}

function readLines(file: string): string[] {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.trim());
}

function isComment(line: string): boolean {
  return line === "" || line.startsWith("#");
}

/**
 * Finds the lines of `_redirects` that Cloudflare's parser of static assets ignores, in the same order of checks.
 * https://developers.cloudflare.com/workers/static-assets/redirects/
 */
export function findIgnoredRedirects(lines: readonly string[], rules: AssetRules): IgnoredRule[] {
  const ignored: IgnoredRule[] = [];
  const seen = new Set<string>();
  const counts = { static: 0, dynamic: 0 };
  for (const [index, text] of lines.entries()) {
    if (isComment(text)) continue;
    // A single-page application serves its page without this rule.
    if (CATCH_ALL.test(text) && rules.not_found_handling === "single-page-application") continue;
    const reason = checkRedirect(text, { seen, counts, rules });
    if (reason !== null) ignored.push({ line: index + 1, text, reason });
  }
  return ignored;
}

interface RedirectState {
  /** The paths of earlier rules. */
  seen: Set<string>;
  counts: { static: number; dynamic: number };
  rules: AssetRules;
}

function checkRedirect(text: string, { seen, counts, rules }: RedirectState): string | null {
  if (text.length > MAX_LINE_LENGTH) return `A line has at most ${MAX_LINE_LENGTH} characters.`;
  const tokens = text.replace(/\s+#.*$/, "").split(/\s+/);
  const [source = "", target = "", status = "302"] = tokens;
  if (tokens.length < 2 || tokens.length > 3) return "A rule has a path, a target and optionally a status.";
  if (isAbsolute(source)) return "The path of a rule is a path of the app, without a host.";
  const from = parsePath(source.startsWith("/") ? source : `/${source}`);
  if (from === null) return "Its path is invalid.";
  if (countRule(from, counts)) return describeMaximum(counts);
  if (!isAbsolute(target) && !target.startsWith("/"))
    return "The target is a path that starts with /, or an https URL.";
  const to = isAbsolute(target) ? target : parsePath(target);
  if (to === null) return "Its target is invalid.";
  if (!STATUSES.has(status.replace(/^0+(?=\d)/, ""))) return "The status is 200, 301, 302, 303, 307 or 308.";
  if (isLoop(from, to, rules)) return LOOP;
  if (seen.has(from)) return "An earlier rule has the same path.";
  seen.add(from);
  return status === "200" && isAbsolute(to) ? "With status 200, the target is a path of the app." : null;
}

/** Counts a rule. The first dynamic rule makes all later rules dynamic. @returns whether there are too many */
function countRule(from: string, counts: RedirectState["counts"]): boolean {
  const isStatic = counts.dynamic === 0 && !from.includes("*") && !/:[A-Za-z]/.test(from);
  if (isStatic) return ++counts.static > MAX_STATIC_REDIRECTS;
  return ++counts.dynamic > MAX_DYNAMIC_REDIRECTS;
}

function describeMaximum({ dynamic }: RedirectState["counts"]): string {
  return dynamic > MAX_DYNAMIC_REDIRECTS
    ? `At most ${MAX_DYNAMIC_REDIRECTS} rules have a wildcard or a placeholder, or follow one that has.`
    : `At most ${MAX_STATIC_REDIRECTS} rules have no wildcard and no placeholder.`;
}

function isLoop(from: string, to: string, { html_handling }: AssetRules): boolean {
  if (isAbsolute(to) || !/\/index(.html)?$/.test(to)) return false;
  return from.endsWith("/*") || (from.endsWith("/") && html_handling !== "none");
}

function isAbsolute(token: string): boolean {
  return /^https:\/\/+[^/]/.test(token);
}

/** Returns the path as the URL standard writes it, with its query; `null` if it is invalid. */
function parsePath(token: string): string | null {
  const url = URL.parse(`//${token}`, "relative://");
  return url === null ? null : `${url.pathname}${url.search}${url.hash}`;
}

/**
 * Finds the lines of `_headers` that Cloudflare's parser of static assets ignores, in the same order of checks.
 * https://developers.cloudflare.com/workers/static-assets/headers/
 */
export function findIgnoredHeaders(lines: readonly string[]): IgnoredRule[] {
  const ignored: IgnoredRule[] = [];
  const state: HeaderState = { rule: null, isSkipping: false, rules: 0 };
  for (const [index, text] of lines.entries()) {
    if (isComment(text)) continue;
    if (isPath(text) && text.length <= MAX_LINE_LENGTH) {
      ignored.push(...emptyRule(state.rule));
      state.rule = null;
      if (state.rules >= MAX_HEADER_RULES) {
        const reason = `At most ${MAX_HEADER_RULES} rules are used. This line and all that follow are ignored.`;
        return [...ignored, { line: index + 1, text, reason }];
      }
    }
    const reason = checkHeaderLine(text, index + 1, state);
    if (reason !== null) ignored.push({ line: index + 1, text, reason });
  }
  return [...ignored, ...emptyRule(state.rule)].toSorted((one, other) => one.line - other.line);
}

interface HeaderState {
  /** The rule that has begun. */
  rule: { line: number; text: string; hasHeaders: boolean } | null;
  /** Whether the lines belong to a rule that is ignored. */
  isSkipping: boolean;
  /** How many rules have headers. */
  rules: number;
}

function isPath(text: string): boolean {
  return /^([^\s]+:\/\/|^\/)/.test(text);
}

function emptyRule(rule: HeaderState["rule"]): IgnoredRule[] {
  return rule === null || rule.hasHeaders ? [] : [{ line: rule.line, text: rule.text, reason: "It has no headers." }];
}

function checkHeaderLine(text: string, line: number, state: HeaderState): string | null {
  if (text.length > MAX_LINE_LENGTH) return `A line has at most ${MAX_LINE_LENGTH} characters.`;
  if (isPath(text)) {
    const reason = checkHeaderPath(text);
    state.isSkipping = reason !== null;
    state.rule = reason === null ? { line, text, hasHeaders: false } : null;
    return reason;
  }
  if (state.isSkipping) return null;
  const reason = checkHeader(text, state.rule !== null);
  if (reason === null && state.rule !== null && !state.rule.hasHeaders) {
    state.rule.hasHeaders = true;
    state.rules += 1;
  }
  return reason;
}

function checkHeaderPath(text: string): string | null {
  const host = /^https:\/\/+([^/]+)/.exec(text)?.[1];
  if (host === undefined && !text.startsWith("/")) return "A rule begins with a path, or with an https URL.";
  if (host !== undefined && /:\d+$/.test(host)) return "A URL of a rule has no port.";
  const wildcards = text.split("*").length - 1;
  if (wildcards > 1) return "A path has at most one wildcard. Use placeholders such as :name.";
  return wildcards > 0 && /:splat(?!\w)/.test(text)
    ? "A path has a wildcard or the placeholder :splat, not both."
    : null;
}

function checkHeader(text: string, hasPath: boolean): string | null {
  if (!text.includes(":")) {
    if (!hasPath) return "The file begins with a path.";
    return text.startsWith("! ") ? null : "A header is written as name: value.";
  }
  const colon = text.indexOf(":");
  const name = text.slice(0, colon).trim();
  if (name.includes(" ")) return "The name of a header has no spaces.";
  if (name === "") return "The header has no name.";
  if (text.slice(colon + 1).trim() === "") return "The header has no value.";
  return hasPath ? null : "The path of a rule precedes its headers.";
}
