// Runs inside the sandbox. Runs npm for a project with dependencies outside of the registry. The registries in the lockfile are
// replaced first, as npm itself would do it with repositories too. npm clones a repository unless its version is a commit, and
// then gets its archive. So branches and tags are replaced by their commits, and package.json is restored afterwards.
//
// usage: node run-npm.ts <registry> <npm-cli.js> <command> [argument...]
import { spawnSync } from "node:child_process";
import { lstatSync, readFileSync, writeFileSync } from "node:fs";

const SHORT = /^(?:(github|gitlab|bitbucket):)?([\w.-]+\/[\w.-]+?)(?:\.git)?(?:#(.*))?$/;
const LONG =
  /^(?:git\+)?(?:https?|ssh|git):\/\/(?:[\w.-]+@)?(github\.com|gitlab\.com|bitbucket\.org)[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?(?:#(.*))?$/;
const HOSTS: Readonly<Record<string, string>> = {
  github: "github.com",
  gitlab: "gitlab.com",
  bitbucket: "bitbucket.org",
};
const COMMIT = /^[0-9a-f]{40}$/;
const FIELDS = ["dependencies", "devDependencies", "optionalDependencies"];

/** URLs of registries: `https://host/name/-/name-1.0.0.tgz`, and the form of GitHub's. */
const LOCKED = /("resolved":\s*")https?:\/\/[^/"]+\/(?=[^"]*\/-\/|download\/@)/g;

const [registry = "", cli = "", command = "", ...options] = process.argv.slice(2);
for (const lockfile of ["package-lock.json", "npm-shrinkwrap.json"]) {
  if (lstatSync(lockfile, { throwIfNoEntry: false })?.isFile() !== true) continue;
  const locked = readFileSync(lockfile, "utf8");
  writeFileSync(lockfile, locked.replaceAll(LOCKED, `$1${registry}`));
}
const text = readFileSync("package.json", "utf8");
const pinned = command === "install" ? pin(text) : null;
if (pinned !== null) writeFileSync("package.json", pinned);
const { status } = spawnSync(process.execPath, [cli, command, ...options], { stdio: "inherit" });
if (pinned !== null) writeFileSync("package.json", text);
process.exitCode = status ?? 1;

/** @returns `null` if nothing is to be replaced */
function pin(source: string): string | null {
  const manifest = JSON.parse(source.replace(/^\uFEFF/, "")) as Record<string, Record<string, unknown> | undefined>;
  let count = 0;
  for (const field of FIELDS)
    for (const [name, version] of Object.entries(manifest[field] ?? {})) {
      const found = typeof version === "string" ? findCommit(version) : null;
      if (found === null) continue;
      manifest[field] = { ...manifest[field], [name]: found };
      count++;
    }
  return count === 0 ? null : JSON.stringify(manifest, null, 2);
}

/** The same dependency with the commit of its branch or tag; `null` for any other one. */
function findCommit(version: string): string | null {
  const [, prefix = "github", short, shortReference] = SHORT.exec(version) ?? [];
  const [, longHost, long, longReference] = LONG.exec(version) ?? [];
  const [host, name, reference = "HEAD"] =
    short === undefined ? [longHost, long, longReference] : [HOSTS[prefix], short, shortReference];
  if (host === undefined || name === undefined || COMMIT.test(reference) || reference.includes(":")) return null;
  const url = `https://${host}/${name}.git`;
  const { stdout } = spawnSync("git", ["ls-remote", "--", url], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const commits = new Map(
    [...(stdout ?? "").matchAll(/^([0-9a-f]{40})\t(\S+)$/gm)].map(([, id = "", ref = ""]) => [ref, id]),
  );
  const wanted = [reference, `refs/heads/${reference}`, `refs/tags/${reference}^{}`, `refs/tags/${reference}`];
  const commit = wanted.map((each) => commits.get(each)).find((each) => each !== undefined);
  return commit === undefined ? null : `git+https://${host}/${name}.git#${commit}`;
}
