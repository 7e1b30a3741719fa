import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { NodeServer } from "../../../domain/ports/bundler.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { ArchiveFailure, packTree } from "../../sandbox/tree-archive/tree-archive.ts";
import { type BuildContext, say } from "./build-step.ts";
import { requireFolder } from "./locate-package.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

const MEBIBYTE = 1024 * 1024;
/** In MiB, compressed. */
const MAX_SIZE_MB = 1024;

interface PackedFiles {
  command: string;
  /** The files of a server that needs no others, relative to its package, and where it starts in them; `null` for all files. */
  standalone: { files: string; directory: string } | null;
  /** The packages that the server does not need, relative to the source. */
  unusedPackages: readonly string[];
}

/**
 * Packs the built files of a Node server, with the packages that it has installed.
 *
 * @throws {BuildFailure} `user` when they are too large
 */
export async function packServer(
  context: BuildContext,
  { command, standalone, unusedPackages }: PackedFiles,
  directory: string,
): Promise<NodeServer> {
  const { sandbox, request, limits } = context;
  say(context, `Node server: it starts with ${JSON.stringify(command)}.`);
  if (unusedPackages.length > 0)
    say(context, `Left out ${unusedPackages.length} packages that only development needs.`);
  const output = path.join(request.outputDirectory, "layers");
  await mkdir(output);
  const { signal } = request;
  const files = standalone === null ? "." : path.posix.join(directory, standalone.files);
  await requireFolder(request.sourceDirectory, files);
  const excluded = path.join(request.outputDirectory, "excluded");
  await writeFile(excluded, unusedPackages.map((each) => `./${each}\n`).join(""));
  const tree = {
    folder: path.join(request.sourceDirectory, files),
    mountedAt: SANDBOX_PATHS.source,
    output,
    runtime: downloadedNode(context),
    excluded,
  };
  const layers = await packTree({ sandbox, limits: limits.bundle, signal }, tree).catch((error: unknown) => {
    if (!(error instanceof ArchiveFailure) || error.outcome.reason === "exit") throw error;
    throw tooLarge(error);
  });
  const bytes = layers.reduce((sum, layer) => sum + layer.bytes, 0);
  if (bytes > MAX_SIZE_MB * MEBIBYTE) throw tooLarge();
  say(context, `Packed ${Math.ceil(bytes / MEBIBYTE)} MiB.`);
  return {
    command,
    directory: standalone?.directory ?? directory,
    layers: layers.map(({ digest, path: file }) => ({ digest, path: file })),
  };
}

/** The folder with the version of Node.js that the build downloaded, because the project names it; `null` if it did not. */
function downloadedNode({ env, scratchDirectory }: BuildContext): string | null {
  const node = env["BUILD_NODE"];
  if (node === undefined) return null;
  return path.join(scratchDirectory, path.posix.relative(SANDBOX_PATHS.scratch, path.posix.dirname(node)));
}

function tooLarge(cause?: unknown): BuildFailure {
  const message = "The built files of the server, with its packages, are too large.";
  return new BuildFailure("user", message, "Remove files and packages that the server does not need.", { cause });
}
