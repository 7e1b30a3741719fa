import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Checkout, GitSource } from "../../../domain/ports/git-source.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { memoryFolder } from "../memory-folder.ts";

export interface GitCheckout extends AsyncDisposable {
  directory: string;
  commit: string;
  branch: string | undefined;
  warnings: readonly string[];
  output: string;
}

/** Checks out a branch, and verifies that nothing is left beside the folder of the checkout. */
export async function checkOut(
  source: GitSource,
  repo = "acme/shop",
  branch = "main",
  signal = new AbortController().signal,
): Promise<GitCheckout> {
  return checkOutTo(source, { repo, branch, signal });
}

/** Checks out a commit of `acme/shop`. */
export async function checkOutCommit(source: GitSource, commit: string): Promise<GitCheckout> {
  const { signal } = new AbortController();
  return checkOutTo(source, { repo: "acme/shop", branch: "main", commit, signal });
}

/** Checks out `acme/shop` for a deployment that names no branch. */
export async function checkOutDefault(source: GitSource): Promise<GitCheckout> {
  const { signal } = new AbortController();
  return checkOutTo(source, { repo: "acme/shop", branch: "main", orDefaultBranch: true, signal });
}

async function checkOutTo(source: GitSource, request: Omit<Checkout, "directory" | "onOutput">): Promise<GitCheckout> {
  const folder = await memoryFolder();
  const directory = join(folder.path, "source");
  const chunks: Uint8Array[] = [];
  const onOutput = (chunk: Uint8Array) => void chunks.push(chunk);
  try {
    const { commit, branch, warnings = [] } = await source.checkOut({ ...request, directory, onOutput });
    expect(await readdir(folder.path)).toEqual(["source"]);
    return {
      directory,
      commit,
      branch,
      warnings,
      output: Buffer.concat(chunks).toString(),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  } catch (error) {
    const entries = await readdir(folder.path);
    await folder[Symbol.asyncDispose]();
    expect(entries.filter((name) => name !== "source")).toEqual([]);
    throw error;
  }
}

/** Checks out a branch that cannot be checked out, and returns the failure. */
export async function checkOutFailure(source: GitSource, repo = "acme/shop", branch = "main"): Promise<BuildFailure> {
  const failure = await checkOut(source, repo, branch).then(
    () => new Error("The checkout succeeded."),
    (error: unknown) => error,
  );
  if (failure instanceof BuildFailure) return failure;
  throw failure;
}
