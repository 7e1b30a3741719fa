import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { BuiltBundle, Bundler, BundleRequest } from "../../../domain/ports/bundler.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { memoryFolder } from "../memory-folder.ts";

/** The content of a file: text, bytes, or the target of a link. */
export type Content = string | Uint8Array | { link: string };

/** A source folder with files and an empty output folder. */
export interface TestCheckout extends AsyncDisposable {
  sourceDirectory: string;
  outputDirectory: string;
}

/** Creates a checkout with these files, which map paths to contents. */
export async function createCheckout(files: Readonly<Record<string, Content>>): Promise<TestCheckout> {
  const checkout = await createEmptyCheckout();
  await writeFiles(checkout, files);
  return checkout;
}

/** Adds files to a checkout. */
export async function writeFiles(
  { sourceDirectory }: Pick<TestCheckout, "sourceDirectory">,
  files: Readonly<Record<string, Content>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) await writeContent(path.join(sourceDirectory, name), content);
}

export async function createEmptyCheckout(): Promise<TestCheckout> {
  const workspace = await memoryFolder();
  const [sourceDirectory, outputDirectory] = [path.join(workspace.path, "source"), path.join(workspace.path, "output")];
  await mkdir(sourceDirectory);
  await mkdir(outputDirectory);
  return { sourceDirectory, outputDirectory, [Symbol.asyncDispose]: () => workspace[Symbol.asyncDispose]() };
}

async function writeContent(file: string, content: Content): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  if (typeof content === "object" && "link" in content) await symlink(content.link, file);
  else await writeFile(file, content);
}

export interface BundleRun {
  bundle: BuiltBundle;
  /** The output of the build. */
  log: string;
}

type BundleOptions = Pick<BundleRequest, "rootDirectory" | "network" | "runtime" | "variables">;

export async function runBundler(
  bundler: Bundler,
  checkout: TestCheckout,
  signal = new AbortController().signal,
  options: BundleOptions = {},
): Promise<BundleRun> {
  const chunks: Uint8Array[] = [];
  const bundle = await bundler.bundle({ ...checkout, ...options, signal, onOutput: (chunk) => chunks.push(chunk) });
  return { bundle, log: Buffer.concat(chunks).toString() };
}

/** Bundles files that cannot be bundled, and returns the failure. */
export async function bundleFailure(
  bundler: Bundler,
  files: Readonly<Record<string, Content>>,
  options: BundleOptions = {},
): Promise<BuildFailure> {
  await using checkout = await createCheckout(files);
  try {
    await runBundler(bundler, checkout, undefined, options);
  } catch (error) {
    if (error instanceof BuildFailure) return error;
    throw error;
  }
  throw new Error("The bundler succeeded.");
}
