import { readdir } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { detectPackageManager, type PackageManager } from "./detect-package-manager.ts";
import { plain } from "./output-tail.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";

const LARGEST_MANIFEST = 1024 * 1024;

const dependencies = z.record(z.string(), z.unknown()).default({});

const manifestSchema = z.object({
  packageManager: z.string().optional(),
  scripts: z.record(z.string(), z.unknown()).default({}),
  dependencies,
  devDependencies: dependencies,
  optionalDependencies: dependencies,
  workspaces: z.unknown().optional(),
});

export type Manifest = z.infer<typeof manifestSchema>;

/** What the root of a checkout says about how it is built. */
export interface Project {
  /** The names of the files and folders at its root. */
  names: ReadonlySet<string>;
  packageManager: PackageManager;
  /** Whether there is anything to install. */
  needsInstall: boolean;
  hasBuildScript: boolean;
  hasWranglerConfig: boolean;
}

/**
 * Reads the root of a checkout. It runs on the host, because a process in the sandbox would cost a small app more
 * than all the rest: it only lists names and parses one JSON file, and follows no link.
 *
 * @throws {BuildFailure} `user` when package.json is not what it must be
 */
export async function readProject(directory: string): Promise<Project> {
  const names = new Set(await readdir(directory));
  const manifest = parseManifest(await readManifest(directory));
  const lists = [manifest.dependencies, manifest.devDependencies, manifest.optionalDependencies];
  return {
    names,
    packageManager: detectPackageManager(manifest.packageManager, names),
    needsInstall: lists.some((list) => Object.keys(list).length > 0) || manifest.workspaces !== undefined,
    hasBuildScript: typeof manifest.scripts["build"] === "string",
    hasWranglerConfig: ["wrangler.json", "wrangler.jsonc", "wrangler.toml"].some((name) => names.has(name)),
  };
}

async function readManifest(directory: string): Promise<string> {
  try {
    return (await readUntrusted(path.join(directory, "package.json"), LARGEST_MANIFEST)) ?? "{}";
  } catch (cause) {
    if (cause instanceof RangeError) throw badManifest("it is larger than 1 MiB", cause);
    throw cause;
  }
}

function parseManifest(text: string): Manifest {
  try {
    return manifestSchema.parse(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch (cause) {
    if (cause instanceof z.ZodError)
      throw badManifest(cause.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; "), cause);
    throw badManifest((cause as Error).message, cause);
  }
}

function badManifest(reason: string, cause: unknown): BuildFailure {
  return new BuildFailure(
    "user",
    `package.json cannot be used: ${plain(reason)}`,
    "Correct package.json and deploy again.",
    { cause },
  );
}
