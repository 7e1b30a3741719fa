import path from "node:path";
import { z } from "zod";
import type { Mount, Sandbox, SandboxLimits, SandboxOutcome } from "../../ports/sandbox.ts";
import { SANDBOX_NODE } from "../sandbox-environment.ts";
import { readUntrusted } from "../untrusted-file.ts";

const SCRIPTS = "/opt/tree-archive";
const MAX_DESCRIPTION_BYTES = 4096;

const layersSchema = z
  .array(
    z.object({
      file: z.enum(["files.tar.zst", "packages.tar.zst", "runtime.tar.zst"]),
      digest: z.string().regex(/^[0-9a-f]{64}$/),
      bytes: z.int(),
    }),
  )
  .min(1)
  .max(3);

/** The folder of a packed Node.js, relative to the tree. */
export const RUNTIME_FOLDER = ".node-runtime";

/** One archive of a tree. */
export interface PackedLayer {
  digest: string;
  path: string;
  bytes: number;
}

interface ArchiveRequest {
  sandbox: Sandbox;
  limits: SandboxLimits;
  signal: AbortSignal;
}

export class ArchiveFailure extends Error {
  override readonly name = "ArchiveFailure";
  readonly outcome: SandboxOutcome;

  constructor(message: string, outcome: SandboxOutcome) {
    super(`${message} (${outcome.reason})`);
    this.outcome = outcome;
  }
}

interface PackedTree {
  folder: string;
  /** The path at which the tree was built. */
  mountedAt: string;
  /** An empty folder. */
  output: string;
  /** The folder of the host with the `node` that the server needs; `null` for the one of the service. */
  runtime: string | null;
  /** A file of the host with the folders of installed packages to leave out, each as `./<path>` in a line; by default none. */
  excluded?: string;
}

/**
 * Packs an untrusted tree into archives: its files, its installed packages if there are any, and a Node.js.
 *
 * @throws {ArchiveFailure}
 */
export async function packTree(
  { sandbox, limits, signal }: ArchiveRequest,
  { folder, mountedAt, output, runtime, excluded }: PackedTree,
): Promise<PackedLayer[]> {
  const mounts = [
    { from: folder, to: mountedAt, writable: false },
    { from: output, to: "/out", writable: true },
    ...(excluded === undefined ? [] : [{ from: excluded, to: "/excluded", writable: false }]),
    ...(runtime === null ? [] : [{ from: runtime, to: "/runtime", writable: false }]),
  ];
  const runtimeArguments = runtime === null ? [] : ["/runtime", RUNTIME_FOLDER];
  await run(
    { sandbox, limits, signal },
    ["pack-tree.mjs", mountedAt, "/out", excluded === undefined ? "" : "/excluded", ...runtimeArguments],
    mounts,
    "The files could not be packed",
  );
  const text = (await readUntrusted(path.join(output, "layers.json"), MAX_DESCRIPTION_BYTES)) ?? "";
  const layers = layersSchema.parse(JSON.parse(text));
  return layers.map(({ file, digest, bytes }) => ({ digest, bytes, path: path.join(output, file) }));
}

/**
 * Unpacks an archive of `packTree` to an empty folder.
 *
 * @throws {ArchiveFailure}
 */
export async function unpackTree(request: ArchiveRequest, archive: string, folder: string): Promise<void> {
  const mounts = [
    { from: archive, to: "/archive.tar.zst", writable: false },
    { from: folder, to: "/tree", writable: true },
  ];
  await run(request, ["unpack-tree.mjs", "/archive.tar.zst", "/tree"], mounts, "The files could not be unpacked");
}

async function run(
  { sandbox, limits, signal }: ArchiveRequest,
  [script, ...args]: [string, ...string[]],
  mounts: Mount[],
  message: string,
): Promise<void> {
  let output = "";
  const outcome = await sandbox.run({
    argv: [SANDBOX_NODE, `${SCRIPTS}/${script}`, ...args],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    mounts: [{ from: path.join(import.meta.dirname, "inside"), to: SCRIPTS, writable: false }, ...mounts],
    network: { kind: "none" },
    limits,
    onOutput: (chunk) => {
      output = (output + Buffer.from(chunk).toString()).slice(0, 500);
    },
    signal,
  });
  signal.throwIfAborted();
  if (outcome.reason !== "exit" || outcome.code !== 0) throw new ArchiveFailure(`${message}: ${output}`, outcome);
}
