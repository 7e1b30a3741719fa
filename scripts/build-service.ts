// Bundles the modules of the service and their packages for `npm start`: they load in half the time. Then starts the service
// once on an empty temporary folder, which fills the compile cache for the first `npm start`. Does nothing if the bundle is
// up to date. `npm run setup` runs it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Metafile, type Plugin } from "esbuild";
import { replaceFile } from "../server/files/durable-files.ts";
import {
  type BundleManifest,
  BUNDLES_FOLDER,
  findServiceBundle,
  fingerprintSources,
  MANIFEST_FILE,
  readManifest,
} from "../server/startup/service-bundle.ts";

const PROJECT = path.resolve(import.meta.dirname, "..");
const ENTRY = "server/startup/run-service.ts";
const COMPILE_CACHE = path.join(PROJECT, ".cache/service");
const READY = "The service is ready";
const START_TIMEOUT_MS = 60_000;
const FOLDER_NAME_LENGTH = 16;

/** What a module can ask about its own file, and the constant that the bundle has in its place. */
const OWN_FILE = {
  "import.meta.url": "__source_url",
  "import.meta.dirname": "__source_dirname",
  "import.meta.filename": "__source_filename",
  __dirname: "__source_dirname",
  __filename: "__source_filename",
};
const ASKS_OWN_FILE = /\bimport\.meta\.(url|dirname|filename)\b|\b__(dirname|filename)\b/;

/** Modules of the bundle find the files beside their sources, such as programs for sandboxes, where the sources are. */
const keepOwnFile: Plugin = {
  name: "keep-own-file",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.[cm]?[jt]s$/ }, async ({ path: file }) => {
      const source = await readFile(file, "utf8");
      if (!ASKS_OWN_FILE.test(source)) return null;
      const constants = Object.entries({
        __source_url: pathToFileURL(file).href,
        __source_dirname: path.dirname(file),
        __source_filename: file,
      }).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`);
      // On the first line, so that the numbers of the lines stay the same.
      return { contents: `${constants.join(" ")} ${source}`, loader: /\.[cm]?ts$/.test(file) ? "ts" : "js" };
    }),
};

/**
 * Packages that the service imports on demand stay outside of the bundle, because a start does not load them. MikroORM's
 * packages share classes, so all of them are in the bundle.
 */
const importPackagesOnDemand: Plugin = {
  name: "import-packages-on-demand",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path: specifier, kind, importer }) => {
      const isOnDemand = kind === "dynamic-import" && !importer.includes("/node_modules/");
      return isOnDemand && !specifier.startsWith("@mikro-orm/") ? { path: specifier, external: true } : null;
    }),
};

async function bundleService(): Promise<void> {
  // Before the sources are read: a change during the build makes the bundle outdated.
  const fingerprint = fingerprintSources();
  const folder = fingerprint.slice(0, FOLDER_NAME_LENGTH);
  const outdir = path.join(BUNDLES_FOLDER, folder);
  await rm(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: PROJECT,
    entryPoints: [ENTRY],
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    // The conditions of Node: the default has `module`, which can select another file than Node does.
    conditions: ["node-addons", "module-sync"],
    // Without it, a class whose name occurs twice would get another name, which appears in logs.
    keepNames: true,
    define: OWN_FILE,
    plugins: [keepOwnFile, importPackagesOnDemand],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    metafile: true,
    logLevel: "warning",
  });
  const manifest: BundleManifest = { fingerprint, folder, ...describeOutputs(metafile) };
  const earlier = readEarlierFolder();
  await replaceFile(MANIFEST_FILE, JSON.stringify(manifest), 0o644);
  await removeBuildsExcept([folder, earlier, path.basename(MANIFEST_FILE)]);
}

function describeOutputs({ outputs }: Metafile): Pick<BundleManifest, "entry" | "sizes"> {
  const files = Object.entries(outputs);
  const [entry = ""] = files.find(([, { entryPoint }]) => entryPoint === ENTRY) ?? [];
  return {
    entry: path.basename(entry),
    sizes: Object.fromEntries(files.map(([file, { bytes }]) => [path.basename(file), bytes])),
  };
}

/** The folder of the last build. A running service may still load modules from it. */
function readEarlierFolder(): string | null {
  try {
    return readManifest().folder;
  } catch {
    return null;
  }
}

async function removeBuildsExcept(kept: readonly (string | null)[]): Promise<void> {
  for (const name of await readdir(BUNDLES_FOLDER))
    if (!kept.includes(name)) await rm(path.join(BUNDLES_FOLDER, name), { recursive: true, force: true });
}

/** Fills the compile cache: without it, the first start needs 1.6 times the CPU time. */
async function compileService(): Promise<void> {
  // The code of earlier builds would stay forever.
  await rm(COMPILE_CACHE, { recursive: true, force: true });
  const folder = await mkdtemp(path.join(tmpdir(), "compile-service-"));
  const { PATH, HOME, SANDBOX } = process.env;
  const settings = { DATA_DIR: folder, PORT: "0", EDGE_PORT: "0", LOG_LEVEL: "silent" };
  try {
    const service = spawn(process.execPath, ["server/main.ts"], {
      cwd: PROJECT,
      env: { ...(SANDBOX !== undefined && { SANDBOX }), PATH, HOME, ...settings, NODE_COMPILE_CACHE: COMPILE_CACHE },
      stdio: ["ignore", "pipe", "inherit"],
      timeout: START_TIMEOUT_MS,
    });
    let output = "";
    let isReady = false;
    service.stdout.on("data", (chunk: Buffer) => {
      output += String(chunk);
      if (isReady || !output.includes(READY)) return;
      isReady = true;
      // The process saves the cache at its end.
      service.kill("SIGTERM");
    });
    await once(service, "close");
    if (!isReady) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (findServiceBundle() === null) {
  await mkdir(BUNDLES_FOLDER, { recursive: true });
  await bundleService();
  await compileService();
}
