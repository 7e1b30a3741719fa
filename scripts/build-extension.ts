// Builds the desktop extension: the folder `service`, and service.mcpb beside it, in .cache/downloads or in the given folder.
// The same sources give the same bytes.
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { packBundle, unpackBundle } from "../server/web/extension-bundle.ts";
import { DOWNLOADS, PROJECT } from "./pack-package.ts";

const MCPB = path.join(PROJECT, "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js");
const SOURCE = path.join(PROJECT, "clients/extension");
const [target = DOWNLOADS] = process.argv.slice(2);
const FOLDER = path.join(target, "service");
const BUNDLE = path.join(target, "service.mcpb");

await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
for (const file of ["manifest.json", "icon.png"]) await cp(path.join(SOURCE, file), path.join(FOLDER, file));
await cp(path.join(PROJECT, "LICENSE"), path.join(FOLDER, "LICENSE"));
await build({
  absWorkingDir: PROJECT,
  entryPoints: [path.join(PROJECT, "clients/cli/src/desktop-extension-server.ts")],
  outfile: path.join(FOLDER, "server/index.mjs"),
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "inline",
});
const { stdout } = await promisify(execFile)(process.execPath, [MCPB, "pack", FOLDER, BUNDLE]).catch(
  (error: { stdout: string; stderr: string }) => {
    throw new Error(`mcpb rejects the extension:\n${error.stdout}${error.stderr}`);
  },
);
if (!stdout.includes("Manifest schema validation passes")) throw new Error(`mcpb did not validate:\n${stdout}`);
// mcpb stores the times of the files, so that each build would give other bytes.
await writeFile(BUNDLE, packBundle(unpackBundle(await readFile(BUNDLE))));
