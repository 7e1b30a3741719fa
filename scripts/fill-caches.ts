// Fills the caches that make builds and programs fast and independent of the network: the packages of every example, the
// compiled toolchain, and the modules that programs can import. Does nothing if nothing has changed. `npm run setup` runs it.
import { createHash } from "node:crypto";
import { cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { BuildFailure } from "../domain/shared/errors.ts";
import type { Bundler } from "../domain/ports/bundler.ts";
import { readConfig } from "../server/config.ts";
import { fillCompileCache } from "../server/drivers/bundler/fill-compile-cache.ts";
import { createBundler, TOOLCHAIN_FOLDERS } from "../server/composition/bundler.ts";
import { ImportableModules, MODULES_FOLDER } from "../server/drivers/code-runtime/prepare-importable-modules.ts";
import { BubblewrapSandbox } from "../server/sandbox/bubblewrap.ts";
import { UnconfinedSandbox } from "../server/sandbox/unconfined-sandbox.ts";

const PROJECT = path.resolve(import.meta.dirname, "..");
const EXAMPLES = path.join(PROJECT, "examples");
/** Of the files that determine which packages are fetched, which modules are compiled, and with which options of V8. */
const INPUTS = [
  "package-lock.json",
  "examples/*/package*.json",
  "server/drivers/bundler/{bundle-script,toolchain}.ts",
  "server/drivers/bundler/inside/**/*.{ts,mjs}",
];
/** Contains the fingerprint with which the caches were filled. */
const MARKER_FILE = path.join(path.dirname(TOOLCHAIN_FOLDERS.packages), "caches-filled");

/** A hash that changes when packages may have to be fetched or compiled again. */
async function fingerprint(): Promise<string> {
  const files = await Array.fromAsync(glob(INPUTS, { cwd: PROJECT }));
  const hash = createHash("sha256").update(process.version);
  for (const file of files.toSorted()) hash.update(await readFile(path.join(PROJECT, file)));
  return hash.digest("hex");
}

async function bundleExample(bundler: Bundler, example: string): Promise<void> {
  const workspace = await mkdtemp(path.join(tmpdir(), "example-"));
  const [sourceDirectory, outputDirectory] = [path.join(workspace, "source"), path.join(workspace, "output")];
  const chunks: Uint8Array[] = [];
  try {
    const filter = (file: string) => path.basename(file) !== "node_modules";
    await cp(path.join(EXAMPLES, example), sourceDirectory, { recursive: true, filter });
    await mkdir(outputDirectory);
    const signal = new AbortController().signal;
    await bundler.bundle({
      sourceDirectory,
      outputDirectory,
      signal,
      onOutput: (chunk) => chunks.push(chunk),
    });
  } catch (error) {
    process.stderr.write(`\nexamples/${example} could not be built:\n${Buffer.concat(chunks).toString()}`);
    throw error;
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

async function fillCaches(): Promise<void> {
  const config = readConfig();
  const sandbox = config.sandbox === "bubblewrap" ? new BubblewrapSandbox() : new UnconfinedSandbox();
  await new ImportableModules(MODULES_FOLDER).prepare();
  await fillCompileCache(sandbox, TOOLCHAIN_FOLDERS.modules, TOOLCHAIN_FOLDERS.compiled);
  const bundler = createBundler(sandbox, config.npmEnvironment, {
    onRegistryOutage: (code) => console.error(`\nThe package registry cannot be reached: ${code}.`),
  });
  for await (const manifest of glob("*/package.json", { cwd: EXAMPLES })) {
    await bundleExample(bundler, path.dirname(manifest));
  }
}

const current = await fingerprint();
if ((await readFile(MARKER_FILE, "utf8").catch(() => "")) !== current) {
  try {
    await fillCaches();
    await writeFile(MARKER_FILE, current);
  } catch (error) {
    console.error(error instanceof BuildFailure ? `${error.message} ${error.advice}` : error);
    process.exitCode = 1;
  }
}
