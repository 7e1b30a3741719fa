// Runs inside the sandbox, because the project writes the patterns of its packages, and matching a hostile pattern can take
// practically forever. The current folder is the root of a workspace. Lists its packages, the root first.
//
// usage: node list-packages.ts <result file>
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { WorkspacePackage } from "../workspace-packages.ts";
import { buildsAnApp, detectFrameworks } from "./detect-frameworks.ts";
import { readHostingSettings } from "./hosting-settings.ts";
import { hasPage, usesServerFramework } from "./nested-folders.ts";
import { runsServer, startsServer } from "./node-server/server-command.ts";
import { readStartCommand, readStartFile } from "./node-server/start-command.ts";
import { findEntry, hasBuildScript, hasDependencies, type PackageJson, readPackageJson } from "./package-json.ts";
import { hasPagesFunctions } from "./plan-pages.ts";
import { listMembers } from "./workspace-members.ts";
import { WRANGLER_CONFIGS } from "./wrangler-api.ts";

const MAX_PACKAGES = 2000;
const MAX_TEXTS = 20;

/** Commands that run the scripts of other packages. */
const OF_PACKAGES =
  /\b(turbo|lerna|wireit)\b|\b(npm|pnpm|yarn|bun)\b.*\s(-r|-C|-F|-w|-ws|--(recursive|filter|workspaces?|prefix|dir|cwd)|workspaces?)\b/;

const [resultFile = ""] = process.argv.slice(2);
const root = process.cwd();
const directories = [".", ...listMembers()].slice(0, MAX_PACKAGES);
const manifests = new Map(directories.map((directory) => [directory, readManifest(directory)]));
const byName = new Map([...manifests].map(([directory, { name }]) => [name, directory]));
const wordsOfBuild = readWordsOfBuild();
const started = await findStarted();
const packages: WorkspacePackage[] = [];
for (const [directory, manifest] of manifests) packages.push(await describePackage(directory, manifest));
await correctRoot();
writeFileSync(resultFile, JSON.stringify(packages));

/** A package that cannot be read is listed without a name: the install reports what is wrong with it. */
function readManifest(directory: string): PackageJson {
  process.chdir(path.join(root, directory));
  try {
    return readPackageJson();
  } catch {
    return {};
  }
}

async function describePackage(directory: string, manifest: PackageJson): Promise<WorkspacePackage> {
  process.chdir(path.join(root, directory));
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest;
  const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies });
  const dependsOn = names.flatMap((name) => byName.get(name) ?? []).filter((each) => each !== directory);
  const hasConfig = WRANGLER_CONFIGS.some((name) => existsSync(name));
  return {
    directory,
    dependsOn,
    // The root may be built as an app; other packages are built before one.
    hasBuildScript: directory === "." ? hasBuildScript(manifest) : typeof manifest.scripts?.["build"] === "string",
    hasConfig,
    isBuiltByRoot: directory !== "." && isNamed(directory, manifest.name),
    startedByRoot: started?.directory === directory ? started.by : null,
    kind: await kindOf(directory, manifest),
  };
}

/** Whether a file is one of a server, and not of a tool such as `packages/cli/bin.js`, by what its package or itself imports. */
async function isFileOfServer(file: string, directory: string): Promise<boolean> {
  if (usesServerFramework(manifests.get(directory) ?? {})) return true;
  process.chdir(path.join(root, directory));
  const isServer = await runsServer(path.relative(directory, file));
  process.chdir(root);
  return isServer;
}

/** The package in which the start script of the root starts a server, such as `server` of `npm start --workspace server`. */
async function findStarted(): Promise<{ directory: string; by: "file" | "framework" } | null> {
  const command = readStartCommand(readManifest("."));
  if (command === null || !startsServer(command)) return null;
  const file = readStartFile(command);
  const place = `${path.normalize(file ?? command.folder)}/`;
  const containing = directories.filter((each) => each !== "." && place.startsWith(`${each}/`));
  // Of nested packages, the inner one.
  const directory = containing.toSorted((one, other) => other.length - one.length)[0];
  if (directory === undefined || (file !== null && !(await isFileOfServer(file, directory)))) return null;
  return { directory, by: file === null ? "framework" : "file" };
}

/**
 * The root can have a framework for its packages only, for example as a dependency of linters. It is not an app then, if it has
 * no `build` script, or one that builds the packages, and if one of the packages is an app.
 */
async function correctRoot(): Promise<void> {
  const [rootPackage, ...members] = packages;
  const manifest = manifests.get(".") ?? {};
  const build = manifest.scripts?.["build"];
  const buildsPackages = typeof build !== "string" || OF_PACKAGES.test(build);
  if (rootPackage?.kind !== "app" || !buildsPackages || !members.some(({ kind }) => kind === "app")) return;
  rootPackage.kind = await kindOf(".", { ...manifest, dependencies: {}, devDependencies: {} });
}

/**
 * The words of the `build` script of the root, of the scripts that it runs, and of the settings for another host, such as `web`
 * of `turbo run build --filter=web`, or `apps/web` of `npm run build --prefix apps/web`.
 */
function readWordsOfBuild(): string[] {
  const { scripts = {} } = readManifest(".");
  const settings = readHostingSettings();
  const texts = ["build", settings?.buildCommand, settings?.outputDirectory].filter((text) => typeof text === "string");
  // A word can be the name of another script. The list grows while it is read.
  for (let index = 0; index < texts.length && texts.length < MAX_TEXTS; index++)
    for (const word of splitWords(texts[index] ?? "")) {
      const script = Object.hasOwn(scripts, word) ? scripts[word] : undefined;
      if (typeof script === "string" && !texts.includes(script)) texts.push(script);
    }
  return texts.flatMap(splitWords);
}

/** Whether the root has settings for another host that build one of the packages, and say where its pages are. */
function buildsPagesOfPackage(manifest: PackageJson): boolean {
  const settings = readHostingSettings();
  return settings?.outputDirectory != null && (settings.buildCommand !== null || hasBuildScript(manifest));
}

function splitWords(text: string): string[] {
  return text.split(/[\s"'`=;&|(){},]+/).map((word) => word.replace(/^\.\//, "").replace(/(\.{3}|\/)$/, ""));
}

/** A word can be a folder inside the package too, such as `apps/web/dist`. */
function isNamed(directory: string, name: unknown): boolean {
  return wordsOfBuild.some((word) => word === name || word === directory || word.startsWith(`${directory}/`));
}

async function kindOf(directory: string, manifest: PackageJson): Promise<WorkspacePackage["kind"]> {
  process.chdir(path.join(root, directory));
  // The start script of the root often starts one of the packages.
  const isServer = directory !== "." && readStartFile(readStartCommand(manifest)) !== null;
  const hasEntry = isServer || findEntry(manifest) !== undefined;
  if (WRANGLER_CONFIGS.some((name) => existsSync(name)) || hasPage(".")) return "app";
  if (hasPagesFunctions() || (directory === "." && buildsPagesOfPackage(manifest))) return "app";
  if (hasDependencies(manifest) && buildsAnApp(await detectFrameworks(), hasEntry)) return "app";
  return hasEntry ? "script" : "library";
}
