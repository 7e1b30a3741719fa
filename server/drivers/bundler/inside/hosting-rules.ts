/** What the settings of another host say about static files, in the form that the edge platform has. */
export interface HostingRules {
  /** Lines of `_redirects`. */
  redirects: string[];
  /** Lines of `_headers`. */
  headers: string[];
  /** Whether a path without a file gets `index.html`. */
  isSinglePage: boolean;
  /** The settings that the platform does not have. */
  ignored: string[];
}

/** A rule of vercel.json or netlify.toml. `condition` is a setting that only that host evaluates. */
export interface PathRule {
  from: unknown;
  to: unknown;
  status: number;
  condition: boolean;
}

export interface HeaderRule {
  from: unknown;
  values: readonly (readonly [name: unknown, value: unknown])[];
  condition: boolean;
}

const INDEX_PAGES = new Set(["/", "/index", "/index.html"]);
/** A pattern of Vercel for all paths except some, such as `/((?!api/.*).*)`. */
const ALL_BUT_SOME = /^\/\(\(?\?!.*\)\.\*\)?$/;
const REDIRECTS = [301, 302, 303, 307, 308];

export function convertRules(paths: readonly PathRule[], headers: readonly HeaderRule[]): HostingRules {
  const rules: HostingRules = { redirects: [], headers: [], isSinglePage: false, ignored: [] };
  for (const rule of paths) convertPath(rule, rules);
  for (const rule of headers) convertHeader(rule, rules);
  return rules;
}

function convertPath({ from, to, status, condition }: PathRule, rules: HostingRules): void {
  const pattern = toPattern(from);
  const target = toTarget(to);
  const isRewrite = status === 200;
  const isFallback = pattern?.includes("*") === true || (typeof from === "string" && ALL_BUT_SOME.test(from));
  if (isRewrite && isFallback && !condition && typeof to === "string" && INDEX_PAGES.has(to)) rules.isSinglePage = true;
  // The platform does this by itself.
  else if (status === 404 && to === "/404.html") return;
  else if (pattern === null || target === null || condition || !canBeRule(pattern, target, status))
    rules.ignored.push(`${isRewrite ? "the rewrite" : "the redirect"} of ${describe(from)}`);
  else rules.redirects.push(`${pattern} ${target} ${status}`);
}

function canBeRule(pattern: string, target: string, status: number): boolean {
  if (REDIRECTS.includes(status)) return true;
  // The platform applies a rewrite also where a file exists, and has no proxy.
  const keepsPaths = !pattern.includes("*") || target.includes(":splat");
  return status === 200 && target.startsWith("/") && !target.startsWith("/.netlify/") && keepsPaths;
}

function convertHeader({ from, values, condition }: HeaderRule, rules: HostingRules): void {
  const pattern = toPattern(from);
  const lines = values.filter(([name, value]) => isSingleLine(name) && isSingleLine(value));
  if (pattern === null || condition || lines.length < values.length)
    rules.ignored.push(`the headers of ${describe(from)}`);
  else rules.headers.push(pattern, ...lines.map(([name, value]) => `  ${String(name)}: ${String(value)}`));
}

/** Converts a path with `:name*` or `(.*)` to one with `*`. `null` if it has another regular expression. */
function toPattern(from: unknown): string | null {
  if (typeof from !== "string" || !from.startsWith("/")) return null;
  const pattern = from.replaceAll(/:\w+[*+]|\(\.[*+]\)/g, "*");
  const isPlain = /^[^\s()[\]{}?|\\^$+]+$/.test(pattern);
  return isPlain && pattern.split("*").length <= 2 ? pattern : null;
}

function toTarget(to: unknown): string | null {
  if (typeof to !== "string" || !/^(\/|https?:\/\/)/.test(to)) return null;
  const target = to.replaceAll(/:\w+[*+]|\$1/g, ":splat");
  return /[\s$]/.test(target) ? null : target;
}

function isSingleLine(value: unknown): value is string {
  return typeof value === "string" && /^\P{Cc}+$/u.test(value);
}

function describe(from: unknown): string {
  return typeof from === "string" ? from.slice(0, 60) : "an unknown path";
}
