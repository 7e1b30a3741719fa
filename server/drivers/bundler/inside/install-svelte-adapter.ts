// Runs inside the sandbox, after the install. Installs the adapter that SvelteKit's adapter-auto would otherwise install
// during the build, which has no network.
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
// A workspace may have it at its root.
const files = ancestorFolders(process.cwd()).map(
  (folder) => `${folder}/node_modules/@sveltejs/adapter-auto/adapters.js`,
);
const adapters = readFileSync(files.find((file) => existsSync(file)) ?? "", "utf8");
const version = /adapter-cloudflare["'],\s*version:\s*["']([\w.-]+)["']/.exec(adapters)?.[1] ?? "latest";
const packages = [`${adapter}@${version}`, "wrangler@4"];
console.log(`> installing ${packages.join(" and ")} for @sveltejs/adapter-auto`);
const program = packageManager === "yarn-berry" ? "yarn" : packageManager;
process.exitCode = await runPackageManager(program, [...(ADD_ARGUMENTS[packageManager] ?? []), ...packages]);
