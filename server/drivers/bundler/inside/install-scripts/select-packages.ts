import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import type { PackageManager } from "../../detect-package-manager.ts";
import type { InstalledPackage, Manifest } from "./find-packages.ts";

/** Whether the scripts of a package run; `tolerated`: they run, and the build goes on if they fail. */
export type ScriptPolicy = (scripted: Pick<InstalledPackage, "name" | "version">) => "run" | "tolerated" | "skip";

/** Since this version, pnpm runs the scripts of approved packages only. */
const PNPM_WITH_APPROVALS = 10;

/**
 * Returns which scripts the package manager of the project runs, by its settings in the current folder.
 *
 * @param version - the version of the package manager that the project names, if it does
 */
export function readScriptPolicy(manager: PackageManager, version: string | null, manifest: Manifest): ScriptPolicy {
  if (ignoresScripts(manager)) return () => "skip";
  switch (manager) {
    case "npm":
      return denied(readRecord(manifest["allowScripts"]));
    case "pnpm":
      return pnpmPolicy(version, manifest);
    case "yarn-berry":
      return denied(
        Object.fromEntries(
          Object.entries(readRecord(manifest["dependenciesMeta"])).map(([name, meta]) => [
            name,
            readRecord(meta)["built"],
          ]),
        ),
      );
    case "bun":
      return bunPolicy(manifest);
    case "yarn":
      return () => "run";
  }
}

/** Whether the settings of the project turn all scripts off, also those of the project itself. */
export function ignoresScripts(manager: PackageManager): boolean {
  if (manager === "yarn-berry") return /^enableScripts:\s*["']?false/m.test(readText(".yarnrc.yml"));
  if (manager === "yarn" && /^["']?ignore-scripts["']?[ :]+["']?true/m.test(readText(".yarnrc"))) return true;
  return manager !== "bun" && /^\s*ignore-scripts\s*=\s*["']?true/m.test(readText(".npmrc"));
}

/** Runs all scripts but those of packages whose entry is `false`. An entry can name versions: `sharp@1.0.0 || 2.0.0`. */
function denied(entries: Readonly<Record<string, unknown>>): ScriptPolicy {
  const names = new Set<string>();
  for (const [key, value] of Object.entries(entries)) if (value === false) names.add(key.replace(/(?<=.)@.*$/, ""));
  return ({ name }) => (names.has(name) ? "skip" : "run");
}

function pnpmPolicy(version: string | null, { pnpm }: Manifest): ScriptPolicy {
  const settings = { ...readRecord(pnpm), ...readRecord(parseYaml(readText("pnpm-workspace.yaml"))) };
  const approvals = readRecord(settings["allowBuilds"]);
  const approved = new Set([
    ...readNames(settings["onlyBuiltDependencies"]),
    ...Object.keys(approvals).filter((key) => approvals[key] === true),
  ]);
  const ignored = new Set([
    ...readNames(settings["neverBuiltDependencies"]),
    ...readNames(settings["ignoredBuiltDependencies"]),
    ...Object.keys(approvals).filter((key) => approvals[key] === false),
  ]);
  const hasApprovals = settings["onlyBuiltDependencies"] !== undefined || settings["allowBuilds"] !== undefined;
  const major = version === null ? null : Number.parseInt(version, 10);
  return ({ name, version: own }) => {
    const isIn = (names: ReadonlySet<string>) => names.has(name) || names.has(`${name}@${own}`);
    if (isIn(ignored)) return "skip";
    if (isIn(approved) || settings["dangerouslyAllowAllBuilds"] === true) return "run";
    if (hasApprovals) return "skip";
    if (major === null) return "tolerated";
    return major < PNPM_WITH_APPROVALS ? "run" : "skip";
  };
}

function bunPolicy({ trustedDependencies }: Manifest): ScriptPolicy {
  const trusted = new Set(trustedDependencies === undefined ? listDefaultTrusted() : readNames(trustedDependencies));
  return ({ name }) => (trusted.has(name) ? "run" : "skip");
}

function listDefaultTrusted(): string[] {
  const { stdout } = spawnSync("bun", ["pm", "default-trusted"], { encoding: "utf8" });
  return [...(stdout ?? "").matchAll(/^ - (\S+)$/gm)].map(([, name = ""]) => name);
}

function readRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function readNames(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
