// Runs inside the sandbox, before a package manager that a script of the project runs. Succeeds if the command only installs the
// packages of a folder that the service has installed: scripts have no registry.
//
// usage: node is-installed.ts <package manager> [argument...]
import path from "node:path";
import { folderOptions } from "./script-commands.ts";

const INSTALL = /^(?:install|i|ci)$/;
const INFORMS = /^(?:-v|--version|-h|--help)$/;
/** Options whose value is the next word. */
const VALUES = new Set([
  ...[
    "--prefix",
    "--cwd",
    "--dir",
    "-C",
    "--loglevel",
    "--registry",
    "--omit",
    "--include",
    "--cache",
    "--cache-folder",
  ],
  ...["--network-timeout", "--network-concurrency", "--mutex", "--fetch-timeout", "--fetch-retries", "--maxsockets"],
]);

const [manager = "", ...args] = process.argv.slice(2);
const names = args.filter((word, index) => !word.startsWith("-") && !VALUES.has(args[index - 1] ?? ""));
const [command = manager === "yarn" ? "install" : "", ...packages] = names;
const folder = path.resolve(...folderOptions(args));
const installed = (process.env["INSTALLED_FOLDERS"] ?? "").split(":");
const isInstall = INSTALL.test(command) && packages.length === 0 && !args.some((word) => INFORMS.test(word));

if (isInstall && installed.includes(folder))
  console.log(`The packages of ${path.basename(folder)} are installed already.`);
else process.exitCode = 1;
