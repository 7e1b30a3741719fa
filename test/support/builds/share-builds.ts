import { createHash, randomUUID } from "node:crypto";
import { cp, mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { inject } from "vitest";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import type { AppCode, BuiltBundle, Bundler, BundleRequest } from "../../../domain/ports/bundler.ts";

/** What one build made, besides the files of its output folder. */
interface SharedBuild {
  /** Its paths are relative to the output folder. */
  bundle: BuiltBundle;
  /** The output of the build. */
  log: string;
}

/**
 * A bundler that builds each source tree once per test run. Later requests for the same tree, in any test file, get a copy
 * of the first bundle and its log. For tests of what happens to a bundle afterwards: what a build leaves in the source
 * folder exists only after the first one.
 */
export function shareBuilds(bundler: Bundler): Bundler {
  return {
    bundle: async (request) => restore(request, await buildOnce(bundler, request)),
    runScript: (request, script) => bundler.runScript(request, script),
    addDependency: (request, dependency) => bundler.addDependency(request, dependency),
  };
}

/** The builds of this process by the folder that they are kept in. */
const builds = new Map<string, Promise<string>>();

/** Returns the folder of the build. A build that failed is not kept. */
async function buildOnce(bundler: Bundler, request: BundleRequest): Promise<string> {
  const { rootDirectory = null, runtime = null, variables = {} } = request;
  const settings = JSON.stringify([await hashTree(request.sourceDirectory), rootDirectory, runtime, variables]);
  const folder = path.join(inject("buildsFolder"), sha256Hex(settings));
  const build = builds.get(folder) ?? findOrBuild(bundler, request, folder);
  builds.set(folder, build);
  build.catch(() => builds.delete(folder));
  return build;
}

async function findOrBuild(bundler: Bundler, request: BundleRequest, folder: string): Promise<string> {
  if (await exists(folder)) return folder;
  const complete = `${folder}-${randomUUID()}`;
  const outputDirectory = path.join(complete, "output");
  await mkdir(outputDirectory, { recursive: true });
  const chunks: Uint8Array[] = [];
  const bundle = await bundler.bundle({ ...request, outputDirectory, onOutput: (chunk) => void chunks.push(chunk) });
  const build: SharedBuild = {
    bundle: withPaths(bundle, (file) => path.relative(outputDirectory, file)),
    log: Buffer.concat(chunks).toString(),
  };
  await writeFile(path.join(complete, "build.json"), JSON.stringify(build));
  // If another process was first, its build has the same content.
  await rename(complete, folder).catch(async (error: unknown) => {
    if (!(await exists(folder))) throw error;
  });
  return folder;
}

async function restore({ outputDirectory, onOutput }: BundleRequest, folder: string): Promise<BuiltBundle> {
  const { bundle, log } = JSON.parse(await readFile(path.join(folder, "build.json"), "utf8")) as SharedBuild;
  await cp(path.join(folder, "output"), outputDirectory, { recursive: true });
  onOutput(Buffer.from(log));
  return withPaths(bundle, (file) => path.join(outputDirectory, file));
}

function withPaths(bundle: BuiltBundle, change: (file: string) => string): BuiltBundle {
  const { assets } = bundle;
  return {
    ...bundle,
    code: codeWithPaths(bundle.code, change),
    assets: assets && { ...assets, directory: change(assets.directory) },
  };
}

function codeWithPaths(code: AppCode, change: (file: string) => string): AppCode {
  if (code.runtime === "worker") return { ...code, scriptPath: change(code.scriptPath) };
  const layers = code.server.layers.map((layer) => ({ ...layer, path: change(layer.path) }));
  return { ...code, server: { ...code.server, layers } };
}

/** A hash of the names, contents and executable bits of all files below a folder. */
async function hashTree(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const hash = createHash("sha256");
  for (const file of files.toSorted()) {
    const isExecutable = ((await stat(file)).mode & 0o100) !== 0;
    const content = createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
    hash.update(JSON.stringify([path.relative(folder, file), isExecutable, content]));
  }
  return hash.digest("hex");
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
