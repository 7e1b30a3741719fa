import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "smol-toml";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import { ancestorFolders } from "./ancestor-folders.ts";
import { convertRules, type HostingRules } from "./hosting-rules.ts";
import { isFile } from "./package-json.ts";

/** What a repository has configured for Vercel or Netlify, as far as it is about builds and static files. */
export interface HostingSettings {
  file: string;
  /** Replaces the build script. `null` if none is set. */
  buildCommand: string | null;
  /** Variables of the build. */
  buildVariables: Readonly<Record<string, string>>;
  /** The folder with the pages, relative to the current one. `null` if none is set. */
  outputDirectory: string | null;
  rules: HostingRules;
  htmlHandling: AssetRules["html_handling"];
}

type Values = Readonly<Record<string, unknown>>;

const NETLIFY = "netlify.toml";
const VERCEL = "vercel.json";

/**
 * Reads `netlify.toml` or `vercel.json` of the current folder. `netlify.toml` can also be above it and name it as its base. A
 * file that is invalid is ignored, and a warning says so.
 */
export function readHostingSettings(): HostingSettings | null {
  return readNetlify() ?? readVercel();
}

function readNetlify(): HostingSettings | null {
  const folder = ancestorFolders(process.cwd()).find((each) => isFile(path.join(each, NETLIFY)));
  if (folder === undefined) return null;
  const settings = parseFile(path.join(folder, NETLIFY), parse);
  if (settings === null) return invalid(NETLIFY);
  const production = object(object(settings["context"])["production"]);
  const build: Values = { ...object(settings["build"]), ...production };
  const base = path.resolve(folder, relative(build["base"]) ?? ".");
  if (base !== process.cwd()) return null;
  const variables = { ...object(object(settings["build"])["environment"]), ...object(production["environment"]) };
  const rules = convertRules(
    list(settings["redirects"]).map(({ from, to, status = 301, query, conditions, signed }) => ({
      from,
      to,
      status: Number(status),
      condition: [query, conditions, signed].some((each) => each !== undefined),
    })),
    list(settings["headers"]).map((rule) => ({
      from: rule["for"],
      values: Object.entries(object(rule["values"])).flatMap(([name, value]) =>
        [value].flat().map((each) => [name, each] as const),
      ),
      condition: false,
    })),
  );
  const functions = [build["functions"], settings["functions"], settings["edge_functions"]];
  if (functions.some((each) => each !== undefined)) rules.ignored.unshift("functions");
  return {
    file: NETLIFY,
    buildCommand: withoutInstall(build["command"]),
    buildVariables: Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, String(value)])),
    outputDirectory: relative(build["publish"]),
    rules,
    htmlHandling: undefined,
  };
}

/** Settings of Vercel that change what is deployed, and that the platform does not have. */
const VERCEL_ONLY = ["installCommand", "functions", "crons", "builds", "env", "middleware"];

function readVercel(): HostingSettings | null {
  if (!isFile(VERCEL)) return null;
  const settings = parseFile(VERCEL, JSON.parse);
  if (settings === null) return invalid(VERCEL);
  const rules = convertRules(
    [
      ...list(settings["redirects"]).map((rule) => ({ ...vercelPath(rule), status: redirectStatus(rule) })),
      ...list(settings["rewrites"]).map((rule) => ({ ...vercelPath(rule), status: 200 })),
      ...list(settings["routes"])
        .filter(({ handle }) => handle === undefined)
        .map(({ src, dest, status = 200, ...rest }) => ({
          from: src,
          to: dest,
          status: Number(status),
          condition: Object.keys(rest).length > 0,
        })),
    ],
    list(settings["headers"]).map((rule) => ({
      from: rule["source"],
      values: list(rule["headers"]).map(({ key, value }) => [key, value] as const),
      condition: isConditional(rule),
    })),
  );
  const isSet = (value: unknown) => value !== undefined && value !== null && !isInstall(value);
  rules.ignored.unshift(...VERCEL_ONLY.filter((name) => isSet(settings[name])));
  const slash = settings["trailingSlash"];
  return {
    file: VERCEL,
    buildCommand: withoutInstall(settings["buildCommand"]),
    buildVariables: {},
    outputDirectory: relative(settings["outputDirectory"]),
    rules,
    htmlHandling: typeof slash === "boolean" ? (slash ? "force-trailing-slash" : "drop-trailing-slash") : undefined,
  };
}

function vercelPath(rule: Values): { from: unknown; to: unknown; condition: boolean } {
  return { from: rule["source"], to: rule["destination"], condition: isConditional(rule) };
}

function isConditional({ has, missing }: Values): boolean {
  return has !== undefined || missing !== undefined;
}

function redirectStatus({ statusCode, permanent }: Values): number {
  if (typeof statusCode === "number") return statusCode;
  return permanent === false ? 307 : 308;
}

/** Installs that a command begins with. Packages are installed already, and the build has no network. */
const INSTALL = /^(npm|pnpm|yarn|bun)(\s+(i|install|ci))?(\s+-\S+)*$/;

function isInstall(command: unknown): boolean {
  return typeof command === "string" && INSTALL.test(command.trim());
}

function withoutInstall(command: unknown): string | null {
  if (typeof command !== "string") return null;
  const rest = command
    .split("&&")
    .map((part) => part.trim())
    .filter((part) => part !== "" && !isInstall(part));
  return rest.length > 0 ? rest.join(" && ") : null;
}

/** A folder of the repository. A path that starts with `/` is relative to the base. */
function relative(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const folder = path.normalize(value.replace(/^\/+/, "").replace(/\/+$/, "") || ".");
  return folder.startsWith("..") ? null : folder;
}

function parseFile(file: string, parseText: (text: string) => unknown): Values | null {
  try {
    return object(parseText(readFileSync(file, "utf8").replace(/^\uFEFF/, "")));
  } catch {
    return null;
  }
}

function invalid(file: string): HostingSettings {
  const rules = { redirects: [], headers: [], isSinglePage: false, ignored: ["all of it, because it is not valid"] };
  const none = { buildCommand: null, buildVariables: {}, outputDirectory: null, htmlHandling: undefined };
  return { file, ...none, rules };
}

function object(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

function list(value: unknown): Values[] {
  return Array.isArray(value) ? value.map(object) : [];
}
