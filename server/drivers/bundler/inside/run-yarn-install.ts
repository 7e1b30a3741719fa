// Runs inside the sandbox. Installs with Yarn 1. Unlike npm and pnpm, it downloads from the hosts in its lockfile and
// not from the configured registry, so the hosts are replaced first. The lockfile's hashes still verify the content.
import { spawnSync } from "node:child_process";
import { lstatSync, readFileSync, writeFileSync } from "node:fs";

const LOCKFILE = "yarn.lock";

if (lstatSync(LOCKFILE, { throwIfNoEntry: false })?.isFile()) {
  const lockfile = readFileSync(LOCKFILE, "utf8");
  const registry = process.env["YARN_REGISTRY"];
  writeFileSync(LOCKFILE, lockfile.replaceAll(/^( {2}resolved ")https?:\/\/[^/]+\/(?=.*\/-\/)/gm, `$1${registry}`));
}

const { status } = spawnSync("yarn", ["install", "--frozen-lockfile", "--non-interactive"], { stdio: "inherit" });
process.exitCode = status ?? 1;
