// Builds the package of the command line: the folder `cli`, and cli.tgz beside it, in .cache/downloads or in the given
// folder. The same sources give the same bytes.
import { cp, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import { DOWNLOADS, packPackage, PROJECT } from "./pack-package.ts";

const SOURCE = path.join(PROJECT, "clients/cli");
const [target = DOWNLOADS] = process.argv.slice(2);
const PACKAGE = path.join(target, "cli");

await rm(PACKAGE, { recursive: true, force: true });
await mkdir(PACKAGE, { recursive: true });
for (const file of ["package.json", "README.md"]) await cp(path.join(SOURCE, file), path.join(PACKAGE, file));
await build({
  absWorkingDir: PROJECT,
  entryPoints: [path.join(SOURCE, "src/main.ts")],
  outfile: path.join(PACKAGE, "svc.js"),
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  // jsonc-parser has its parts as separate files under "main", which esbuild cannot find.
  mainFields: ["module", "main"],
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "inline",
  // tar-stream is a CommonJS module, which requires modules of Node.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
});
await cp(path.join(PROJECT, "LICENSE"), path.join(PACKAGE, "LICENSE"));
await packPackage(PACKAGE);
