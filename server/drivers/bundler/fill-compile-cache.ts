import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Mount, Sandbox } from "../../ports/sandbox.ts";
import { wranglerCommand } from "./bundle-script.ts";
import { SANDBOX_PATHS, type Toolchain, toolchainEnvironment, toolchainMounts } from "./toolchain.ts";

/** A project that uses the same parts of the toolchain as most apps. It installs nothing, so only the toolchain runs. */
const SAMPLE_PROJECT: Readonly<Record<string, string>> = {
  "package.json": `{ "devDependencies": { "sample": "1.0.0" } }`,
  "wrangler.jsonc": `{ "main": "index.ts", "d1_databases": [{ "binding": "DB", "database_name": "sample" }] }`,
  "index.ts": `export default { fetch: (): Response => new Response("sample") };`,
  "migrations/0001_sample.sql": "CREATE TABLE sample (id INTEGER);",
};

const LIMITS = {
  wallTimeMs: 60_000,
  memoryMb: 2048,
  processes: 512,
  fileSizeMb: 256,
  diskMb: 512,
  outputBytes: 64 * 1024,
};

/**
 * Fills `directory` with Node's compile cache of the toolchain, which makes every step that starts it a fifth faster.
 * Runs in the sandbox, because the cache is keyed by the paths inside. Runs without a user's project, because code that
 * can write the cache can change what every later build executes. Replaces an existing cache; Node ignores stale entries.
 *
 * @throws when the toolchain does not work
 */
export async function fillCompileCache(sandbox: Sandbox, modulesDirectory: string, directory: string): Promise<void> {
  await mkdir(path.dirname(directory), { recursive: true });
  const work = await mkdtemp(`${directory}-`);
  try {
    await writeSampleProject(work);
    await runToolchain(sandbox, work, { modulesDirectory, compileCacheDirectory: path.join(work, "cache") });
    await makeReadable(path.join(work, "cache"));
    await rm(directory, { recursive: true, force: true });
    await rename(path.join(work, "cache"), directory);
  } finally {
    await rm(work, { recursive: true });
  }
}

async function writeSampleProject(work: string): Promise<void> {
  for (const folder of ["source/migrations", "output", "scratch", "cache"])
    await mkdir(path.join(work, folder), { recursive: true });
  for (const [name, content] of Object.entries(SAMPLE_PROJECT))
    await writeFile(path.join(work, "source", name), content);
}

async function runToolchain(sandbox: Sandbox, work: string, toolchain: Toolchain): Promise<void> {
  const mounts: Mount[] = [
    ...toolchainMounts(toolchain).map((mount) => ({ ...mount, writable: mount.to === SANDBOX_PATHS.compileCache })),
    { from: path.join(work, "source"), to: SANDBOX_PATHS.source, writable: true },
    { from: path.join(work, "output"), to: SANDBOX_PATHS.output, writable: true },
    { from: path.join(work, "scratch"), to: SANDBOX_PATHS.scratch, writable: true },
  ];
  const commands = [
    { argv: wranglerCommand(), mustSucceed: true },
    // Fails because there is no lockfile, but only after npm has loaded the modules of an install.
    { argv: [SANDBOX_PATHS.node, `${SANDBOX_PATHS.modules}/npm/bin/npm-cli.js`, "ci"] as const, mustSucceed: false },
  ];
  for (const { argv, mustSucceed } of commands) {
    let output = "";
    const outcome = await sandbox.run({
      argv,
      cwd: SANDBOX_PATHS.source,
      env: toolchainEnvironment(toolchain),
      mounts,
      network: { kind: "none" },
      limits: LIMITS,
      onOutput: (chunk) => (output += Buffer.from(chunk).toString()),
      signal: new AbortController().signal,
    });
    if (mustSucceed && (outcome.reason !== "exit" || outcome.code !== 0))
      throw new Error(`The build toolchain does not work. Its output: ${output}`);
  }
}

/** Node makes the cache readable by its owner only, which is the user id of this sandbox. Other builds have other ids. */
async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}
