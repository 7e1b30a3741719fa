// Runs inside the sandbox. Installs with a package manager that downloads from the URLs in its lockfile and not from the
// configured registry, so these URLs are replaced first. The lockfile's hashes still verify the content.
//
// usage: node run-install.ts <lockfile>[?without=name@1.0.0,...] <registry> <program> [argument...]
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { removeOtherPlatforms } from "./other-platforms.ts";
import { REPLACED_REGISTRY } from "./replaced-registry.ts";
import { runPackageManager, writeYarnSettings } from "./run-package-manager.ts";

const [lockfileText, registry, program, ...programArguments] = process.argv.slice(2) as [string, string, string];
const [lockfile = "", without = ""] = lockfileText.split("?without=");

if (lstatSync(lockfile, { throwIfNoEntry: false })?.isFile()) {
  const text = readFileSync(lockfile, "utf8");
  const replaced = text
    // Yarn 1: a line `  resolved "https://host/name/-/name-1.0.0.tgz"`. Bun: `"name": ["name@1.0.0", "https://host/...", ...`.
    .replaceAll(/^( {2}resolved "| +"[^"]+": \["[^"]+", ")https?:\/\/[^/"]+\/(?=[^"]*\/-\/)/gm, `$1${registry}`)
    // pnpm, for some packages: `resolution: {integrity: sha512-..., tarball: https://host/name/-/name-1.0.0.tgz}`.
    .replaceAll(/(^ +resolution: \{.*\btarball: )https?:\/\/[^/\s,}]+\/(?=[^\s,}]*\/-\/)/gm, `$1${registry}`)
    // Yarn 2 and later: `resolution: "name@npm:1.0.0::__archiveUrl=https%3A%2F%2Fhost..."`. Without it, the registry is used.
    .replaceAll(/::__archiveUrl=[^"&\s]+(?=")/g, "");
  const fitting = lockfile === "yarn.lock" ? removeOtherPlatforms(replaced) : replaced;
  const kept = without === "" ? fitting : withoutEntries(fitting, without.split(","));
  if (kept !== text) writeFileSync(lockfile, kept);
}

// The settings of a project take precedence over variables, and Yarn 1 and pnpm have no options for scopes.
if (lstatSync(".npmrc", { throwIfNoEntry: false })?.isFile()) {
  const settings = readFileSync(".npmrc", "utf8");
  const scope =
    /^(\s*["']?@[\w~.-]+:registry["']?\s*=\s*["']?)https?:\/\/registry\.(?:npmjs\.org|yarnpkg\.com|npmmirror\.com)\/?(?=["']?\s*$)/gm;
  const replaced = settings.replaceAll(scope, `$1${registry}`);
  if (replaced !== settings) writeFileSync(".npmrc", replaced);
}

// The mirror serves the packages of the private registry too, with the token, which is not here.
const privateRegistry = process.env[REPLACED_REGISTRY];
if (privateRegistry !== undefined) replacePrivateRegistry(privateRegistry.replace(/\/$/, ""));

writeYarnSettings();

// pnpm refuses two lists of scripts that a newer version accepts. This install runs none; the step for scripts reads both.
const workspaceFile = "pnpm-workspace.yaml";
const isWorkspace = program === "pnpm" && lstatSync(workspaceFile, { throwIfNoEntry: false })?.isFile() === true;
const workspace = isWorkspace ? readFileSync(workspaceFile, "utf8") : "";
const accepted = /^(onlyBuiltDependencies|allowBuilds):/m.test(workspace)
  ? workspace.replace(/^neverBuiltDependencies:.*\n(?:(?:[ \t]+|- ).*(?:\n|$))*/m, "")
  : workspace;
if (accepted !== workspace) writeFileSync(workspaceFile, accepted);

// Yarn 1 clones a repository whose URL has a user, and gets the archive of one in the short form. Only Yarn 1 has this variable.
const manifest = program === "yarn" && process.env["YARN_REGISTRY"] !== undefined ? shortenRepositories() : null;

// Yarn 2 and later write each package to a temporary file, and remove all of them at the end. /tmp of the sandbox is small.
const yarnFolder = process.env["YARN_GLOBAL_FOLDER"];
if (yarnFolder !== undefined) {
  process.env["TMPDIR"] = `${yarnFolder}/temporary`;
  mkdirSync(process.env["TMPDIR"], { recursive: true });
}

process.exitCode = await runPackageManager(program, programArguments);

const bunCache = process.env["BUN_INSTALL_CACHE_DIR"];
if (program === "bun" && bunCache !== undefined) rmSync(bunCache, { recursive: true, force: true });

if (manifest !== null) writeFileSync("package.json", manifest);
if (accepted !== workspace) writeFileSync(workspaceFile, workspace);

function replacePrivateRegistry(url: string): void {
  for (const file of [".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml"]) {
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) continue;
    const text = readFileSync(file, "utf8");
    const changed = text.replaceAll(`${url}/`, registry).replaceAll(url, registry);
    if (changed !== text) writeFileSync(file, changed);
  }
}

/** @returns the text of package.json before the change; `null` if it names no such repository */
function shortenRepositories(): string | null {
  const resolved = /^( {2}resolved ")git\+ssh:\/\/git@github\.com[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?#([0-9a-f]{40})"/gm;
  const named = /(?:git\+)?ssh:\/\/git@github\.com[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?(?=["#])/g;
  const text = readFileSync("package.json", "utf8");
  const changed = text.replaceAll(named, "github:$1");
  if (changed === text) return null;
  writeFileSync("package.json", changed);
  if (lstatSync(lockfile, { throwIfNoEntry: false })?.isFile()) {
    const archives = readFileSync(lockfile, "utf8").replaceAll(resolved, '$1https://codeload.github.com/$2/tar.gz/$3"');
    writeFileSync(lockfile, archives.replaceAll(named, "github:$1"));
  }
  return text;
}

/** The lockfile of Yarn 1 without the entries of some versions, which Yarn then resolves again. */
function withoutEntries(text: string, versions: readonly string[]): string {
  const isRemoved = (entry: string) =>
    versions.some((each) => {
      const [name, version] = [each.slice(0, each.lastIndexOf("@")), each.slice(each.lastIndexOf("@") + 1)];
      return new RegExp(`^"?${RegExp.escape(name)}@[^\n]*:\n  version "${RegExp.escape(version)}"`).test(entry);
    });
  return text
    .split(/\n{2,}/)
    .filter((entry) => !isRemoved(entry))
    .join("\n\n");
}
