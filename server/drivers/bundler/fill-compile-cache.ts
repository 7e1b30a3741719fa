import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Mount, Sandbox } from "../../../domain/ports/sandbox.ts";
import { bundlingArguments } from "./bundle-script.ts";
import { INSIDE, type Toolchain, toolchainEnvironment, toolchainMounts } from "./toolchain.ts";

/** Touches what most bundles touch of the toolchain. Nothing is installed, so no code but the toolchain's runs. */
const SAMPLE: Readonly<Record<string, string>> = {
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
 * Fills `directory` with the compiled code of the toolchain, which takes a fifth off every step that starts it.
 * It is compiled in the sandbox, because its keys are the paths inside, and without a project, because whoever writes
 * it writes the code that every later build runs. Replaces an earlier one; when it is stale, it is merely of no use.
 *
 * @throws when the toolchain does not work
 */
export async function fillCompileCache(sandbox: Sandbox, modulesDirectory: string, directory: string): Promise<void> {
  await mkdir(path.dirname(directory), { recursive: true });
  const work = await mkdtemp(`${directory}-`);
  try {
    await prepareSample(work);
    await compile(sandbox, work, { modulesDirectory, compileCacheDirectory: path.join(work, "cache") });
    await makeReadable(path.join(work, "cache"));
    await rm(directory, { recursive: true, force: true });
    await rename(path.join(work, "cache"), directory);
  } finally {
    await rm(work, { recursive: true });
  }
}

async function prepareSample(work: string): Promise<void> {
  for (const folder of ["source/migrations", "output", "scratch", "cache"])
    await mkdir(path.join(work, folder), { recursive: true });
  for (const [name, content] of Object.entries(SAMPLE)) await writeFile(path.join(work, "source", name), content);
}

async function compile(sandbox: Sandbox, work: string, toolchain: Toolchain): Promise<void> {
  const mounts: Mount[] = [
    ...toolchainMounts(toolchain).map((mount) => ({ ...mount, writable: mount.to === INSIDE.compileCache })),
    { from: path.join(work, "source"), to: INSIDE.source, writable: true },
    { from: path.join(work, "output"), to: INSIDE.output, writable: true },
    { from: path.join(work, "scratch"), to: INSIDE.scratch, writable: true },
  ];
  // A folder without a lockfile stops npm, but not before it has loaded what it installs with.
  const runs = [
    { argv: bundlingArguments(), succeeds: true },
    { argv: [INSIDE.node, `${INSIDE.modules}/npm/bin/npm-cli.js`, "ci"] as const, succeeds: false },
  ];
  for (const { argv, succeeds } of runs) {
    let output = "";
    const outcome = await sandbox.run({
      argv,
      cwd: INSIDE.source,
      env: toolchainEnvironment(toolchain),
      mounts,
      network: { kind: "none" },
      limits: LIMITS,
      onOutput: (chunk) => (output += Buffer.from(chunk).toString()),
      signal: new AbortController().signal,
    });
    if (succeeds && (outcome.reason !== "exit" || outcome.code !== 0))
      throw new Error(`The toolchain does not work: ${output}`);
  }
}

/** Node makes the files for their owner only, who was whoever the sandbox ran as. */
async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}
