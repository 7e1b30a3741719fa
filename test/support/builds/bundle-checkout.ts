import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Bundle, Bundler } from "../../../domain/ports/bundler.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { type TemporaryFolder, temporaryFolder } from "../temporary-folder.ts";

/** What a path of a checkout holds: text, bytes, or a link to somewhere. */
export type Content = string | Uint8Array | { link: string };

export interface CheckedOut extends AsyncDisposable {
  sourceDirectory: string;
  outputDirectory: string;
}

/** A workspace with these files as its source. */
export async function checkoutOf(files: Readonly<Record<string, Content>>): Promise<CheckedOut> {
  const checkout = await emptyCheckout();
  for (const [name, content] of Object.entries(files)) await put(path.join(checkout.sourceDirectory, name), content);
  return checkout;
}

export async function emptyCheckout(): Promise<CheckedOut> {
  const workspace: TemporaryFolder = await temporaryFolder();
  const [sourceDirectory, outputDirectory] = [path.join(workspace.path, "source"), path.join(workspace.path, "output")];
  await mkdir(sourceDirectory);
  await mkdir(outputDirectory);
  return { sourceDirectory, outputDirectory, [Symbol.asyncDispose]: () => workspace[Symbol.asyncDispose]() };
}

async function put(file: string, content: Content): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  if (typeof content === "object" && "link" in content) await symlink(content.link, file);
  else await writeFile(file, content);
}

export interface BundleRun {
  bundle: Bundle;
  /** What the build printed. */
  log: string;
}

export async function bundleIn(
  bundler: Bundler,
  checkout: CheckedOut,
  signal = new AbortController().signal,
): Promise<BundleRun> {
  const chunks: Uint8Array[] = [];
  const bundle = await bundler.bundle({ ...checkout, signal, onOutput: (chunk) => chunks.push(chunk) });
  return { bundle, log: Buffer.concat(chunks).toString() };
}

/** How the bundling of these files fails; a bundling that succeeds fails the test. */
export async function failureOf(bundler: Bundler, files: Readonly<Record<string, Content>>): Promise<BuildFailure> {
  await using checkout = await checkoutOf(files);
  try {
    await bundleIn(bundler, checkout);
  } catch (error) {
    if (error instanceof BuildFailure) return error;
    throw error;
  }
  throw new Error("The bundling succeeded");
}
