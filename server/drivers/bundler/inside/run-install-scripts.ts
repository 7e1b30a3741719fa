// Runs inside the sandbox, after an install without scripts. Runs the scripts of installed packages, or those of the project.
// The current folder is the one in which packages were installed.
//
// usage: node run-install-scripts.ts <ScriptPlan as JSON> <report file>
import { readdirSync, rmSync, statSync, writeFileSync, globSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import type { ScriptPlan } from "./install-scripts/script-plan.ts";
import { compilerVariables } from "./install-scripts/compiler-variables.ts";
import { findScriptedPackages, type InstalledPackage, readManifest } from "./install-scripts/find-packages.ts";
import { linkNativePrograms } from "./install-scripts/pnpm-programs.ts";
import { correctHeaders } from "./install-scripts/node-headers.ts";
import { npmrcVariables } from "./install-scripts/npmrc-variables.ts";
import { runScript, type ScriptResult } from "./install-scripts/run-script.ts";
import type { ScriptFailure, ScriptReport } from "./install-scripts/script-report.ts";
import { ignoresScripts, readScriptPolicy } from "./install-scripts/select-packages.ts";

/** `schema-engine-debian-openssl-3.0.x`, `libquery_engine-…`, and before Prisma 5 `migration-engine-…`. */
const ENGINE = /^(?:lib)?(?:query|schema|migration)[-_]engine-/;

const [planText = "{}", reportFile = ""] = process.argv.slice(2);
const plan = JSON.parse(planText) as ScriptPlan;
const failures: ScriptFailure[] = [];
let lacksEngines = false;
const startedAt = Date.now();
const env = { ...process.env, ...npmrcVariables(), ...headerVariables() };

const isGood = plan.phase === "packages" ? await runPackageScripts() : await runProjectScripts();
const wroteOutside = plan.phase === "packages" && hasNewFiles();
writeFileSync(reportFile, JSON.stringify({ failures, wroteOutside, lacksEngines } satisfies ScriptReport));
process.exitCode = isGood ? 0 : 1;

/** The folder from which node-gyp takes the headers of Node.js. */
function headerVariables(): Record<string, string> {
  const { npm_config_nodedir: folder } = process.env;
  if (folder === undefined) return {};
  return { npm_config_nodedir: correctHeaders(folder, `${reportFile}-headers`) };
}

async function runPackageScripts(): Promise<boolean> {
  const policy = readScriptPolicy(plan.packageManager, plan.version, readManifest(".") ?? {});
  const skipped: string[] = [];
  for (const each of findScriptedPackages(plan.projects)) {
    const decision = policy(each);
    if (decision === "skip") skipped.push(each.name);
    else if (!(await runPackage(each, each.isOptional || decision === "tolerated"))) return false;
  }
  if (skipped.length > 0)
    console.log(`Not run, by the settings of the project: install scripts of ${skipped.join(", ")}`);
  return true;
}

/** @returns whether the build goes on */
async function runPackage(scripted: InstalledPackage, isTolerated: boolean): Promise<boolean> {
  const { folder, name, version, manifest, scripts, isOptional } = scripted;
  await announce(name);
  for (const [event, command] of scripts) {
    console.log(`> ${name}@${version} ${event}`);
    const variables = { ...env, ...compilerVariables(scripted, env) };
    const result = await runScript({ folder, event, command, manifest }, variables, false);
    if (result.code === 0) continue;
    report(name, event, result, isTolerated);
    // As package managers do: code that finds the package would expect that it works.
    if (isOptional) rmSync(folder, { recursive: true, force: true });
    return isTolerated;
  }
  // Its script does not fail without a download.
  if (name === "@prisma/engines") lacksEngines ||= !readdirSync(folder).some((file) => ENGINE.test(file));
  if (plan.packageManager === "pnpm") linkNativePrograms(folder, manifest, plan.projects);
  return true;
}

async function runProjectScripts(): Promise<boolean> {
  if (ignoresScripts(plan.packageManager)) return true;
  await announce("project");
  for (const folder of plan.projects) {
    const manifest = readManifest(folder) ?? {};
    for (const event of plan.events) {
      const command = manifest.scripts?.[event];
      if (typeof command !== "string" || command.trim() === "" || isManagerCheck(command)) continue;
      console.log(`> ${event}\n> ${command}`);
      const result = await runScript({ folder: path.resolve(folder), event, command, manifest }, env, true);
      if (result.code === 0) continue;
      report(null, event, result, false);
      return false;
    }
  }
  return true;
}

/** `npx only-allow pnpm` refuses other package managers. The one of the project has been selected already. */
function isManagerCheck(command: string): boolean {
  return /^(npx|pnpx|bunx|(pnpm|yarn) dlx)( -y| --yes)? only-allow(@\S+)? \w+$/.test(command.trim());
}

function report(packageName: string | null, event: string, { code, tail }: ScriptResult, isTolerated: boolean): void {
  if (packageName !== null) console.log(tail.join("\n"));
  failures.push({ packageName, event, code, tail, isTolerated });
}

/** Tells the package mirror whose script runs, so that an error can say which one requested another host. */
async function announce(name: string): Promise<void> {
  const proxy = new URL(process.env["HTTP_PROXY"] ?? "http://127.0.0.1:3128");
  const url = `${plan.registryUrl}-/script/${encodeURIComponent(name)}`;
  await new Promise<void>((resolve) => {
    const sent = request({ host: proxy.hostname, port: proxy.port, path: url, agent: false }, (response) => {
      response.resume();
      resolve();
    });
    sent.on("error", () => resolve());
    sent.end();
  });
}

/** Whether there is a file outside of `node_modules` that is newer than the start. */
function hasNewFiles(): boolean {
  const isInstalled = (name: string) => /(^|\/)(node_modules|\.git|\.yarn)$/.test(name);
  return globSync("**/*", { cwd: plan.source, exclude: isInstalled }).some((file) => {
    const status = statSync(path.join(plan.source, file), { throwIfNoEntry: false });
    return status?.isFile() === true && status.ctimeMs >= startedAt;
  });
}
