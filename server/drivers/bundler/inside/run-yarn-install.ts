// Installs with Yarn 1, which unlike npm and pnpm asks the hosts that its lockfile names instead of the registry it
// is set to. The lockfile's hashes still decide which content is taken.
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
