// Builds the package of the SDK: the folder `sdk`, and sdk.tgz beside it, in .cache/downloads or in the given folder. The same
// sources give the same bytes.
import { execFile } from "node:child_process";
import { cp, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { DOWNLOADS, packPackage, PROJECT } from "./pack-package.ts";

const SOURCE = path.join(PROJECT, "clients/sdk");
const [target = DOWNLOADS] = process.argv.slice(2);
const PACKAGE = path.join(target, "sdk");
const DIST = path.join(PACKAGE, "dist");

const run = promisify(execFile);

await rm(PACKAGE, { recursive: true, force: true });
await mkdir(DIST, { recursive: true });
for (const file of ["package.json", "README.md"]) await cp(path.join(SOURCE, file), path.join(PACKAGE, file));
await build({
  absWorkingDir: PROJECT,
  entryPoints: [path.join(SOURCE, "src/client.ts")],
  outfile: path.join(DIST, "client.js"),
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
});
await run(process.execPath, [
  path.join(PROJECT, "node_modules/typescript/bin/tsc"),
  ...["-p", SOURCE, "--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", DIST],
]);
// TypeScript keeps the extension of the source in its declarations, and consumers have no such file.
for await (const file of glob("**/*.d.ts", { cwd: DIST })) {
  const declarations = await readFile(path.join(DIST, file), "utf8");
  await writeFile(path.join(DIST, file), declarations.replaceAll(/(from "[.][^"]+)[.]ts"/g, '$1.js"'));
}
await cp(path.join(PROJECT, "LICENSE"), path.join(PACKAGE, "LICENSE"));
await packPackage(PACKAGE);
