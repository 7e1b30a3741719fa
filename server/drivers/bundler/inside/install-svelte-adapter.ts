// Runs inside the sandbox, after the install. Installs the adapter that SvelteKit's adapter-auto would otherwise install
// during the build, which has no network, or that replaces the adapter for another host (see replace-svelte-adapter.mjs).
//
// usage: node install-svelte-adapter.ts <package manager> <adapter>
import { existsSync, readFileSync } from "node:fs";
import { ancestorFolders } from "./ancestor-folders.ts";
import { runPackageManager } from "./run-package-manager.ts";

const ADD_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  npm: ["install", "--no-save", "--no-package-lock"],
  pnpm: ["add", "--save-dev"],
  yarn: ["add", "--dev", "--non-interactive"],
  "yarn-berry": ["add", "--dev", "--mode=skip-build"],
  bun: ["add", "--no-save", "--ignore-scripts"],
};

const [, packageManager, adapter] = process.argv.splice(1) as [string, string, string];
// adapter-auto names the version that works with the project's version of SvelteKit.
const version =
  /adapter-cloudflare["'],\s*version:\s*["']([\w.-]+)["']/.exec(readInstalled("adapter-auto/adapters.js"))?.[1] ??
  (/"version":\s*"1\./.test(readInstalled("kit/package.json")) ? "2" : "7");
const packages = [`${adapter}@${version}`, "wrangler@4"];
console.log(`> installing ${packages.join(" and ")} for SvelteKit`);
const program = packageManager === "yarn-berry" ? "yarn" : packageManager;
process.exitCode = await runPackageManager(program, [...(ADD_ARGUMENTS[packageManager] ?? []), ...packages]);

/** Reads a file of a package of SvelteKit, which a workspace may have at its root. Returns an empty text if there is none. */
function readInstalled(file: string): string {
  const files = ancestorFolders(process.cwd()).map((folder) => `${folder}/node_modules/@sveltejs/${file}`);
  const found = files.find((each) => existsSync(each));
  return found === undefined ? "" : readFileSync(found, "utf8");
}
