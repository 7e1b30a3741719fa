import path from "node:path";
import { z } from "zod";
import type { ServedPackages } from "../../../ports/package-registry.ts";
import { readUntrusted } from "../../../sandbox/untrusted-file.ts";
import type { Project } from "../read-project.ts";
import { SANDBOX_PATHS } from "../toolchain.ts";
import { PROJECT_EVENTS } from "../inside/install-scripts/script-plan.ts";

const ARCH = process.arch;

/**
 * Packages whose script only checks or copies the program of another package, by the start of the name of that one; `""`:
 * the script only prints. They work without the script if the other package is installed, and most projects have one.
 */
const CHECKED: Readonly<Record<string, string>> = {
  esbuild: `@esbuild/linux-${ARCH}`,
  workerd: `@cloudflare/workerd-linux-${ARCH === "x64" ? "64" : ARCH}`,
  sharp: `@img/sharp-linux-${ARCH}`,
  "@swc/core": `@swc/core-linux-${ARCH}-gnu`,
  "@parcel/watcher": `@parcel/watcher-linux-${ARCH}-glibc`,
  "unrs-resolver": `@unrs/resolver-binding-linux-${ARCH}-gnu`,
  "@biomejs/biome": `@biomejs/cli-linux-${ARCH}`,
  "core-js": "",
  "core-js-pure": "",
  "core-js-bundle": "",
  "es5-ext": "",
};

/** Whether installed packages have scripts that do more than check what was installed. */
export function needsPackageScripts({ packages, withScripts }: ServedPackages): boolean {
  const installed = [...packages];
  return [...withScripts].some((each) => {
    const checked = CHECKED[each.slice(0, each.lastIndexOf("@"))];
    return checked === undefined || !installed.some((other) => other.startsWith(checked));
  });
}

const MAX_BYTES = 1024 * 1024;

const manifestSchema = z.object({ scripts: z.record(z.string(), z.unknown()) });

/** The folders of the project, and of the packages of its workspace and below it that the build needs, relative to the source. */
export function projectFolders({ location, nestedPackages }: Pick<Project, "location" | "nestedPackages">): string[] {
  const { buildFirst, packageDirectory, installDirectory } = location;
  return [...new Set([...buildFirst, ...nestedPackages, packageDirectory, installDirectory])];
}

/** Variables with the folders that have their packages, and those that scripts name. See inside/is-installed.ts and nested-folders.ts. */
export function installedFolders(project: Project): Record<string, string> {
  const list = (folders: readonly string[]) =>
    folders.map((folder) => path.posix.join(SANDBOX_PATHS.source, folder)).join(":");
  return { INSTALLED_FOLDERS: list(projectFolders(project)), NESTED_FOLDERS: list(project.nestedPackages) };
}

/** Whether the project, or a package of its workspace that the build needs, has a script that runs after an install. */
export async function hasProjectScripts(sourceDirectory: string, project: Project): Promise<boolean> {
  for (const folder of projectFolders(project)) {
    const text = await readUntrusted(path.join(sourceDirectory, folder, "package.json"), MAX_BYTES).catch(() => null);
    const scripts = readScripts(text ?? "{}");
    if (PROJECT_EVENTS[project.packageManager].some((event) => typeof scripts[event] === "string")) return true;
  }
  return false;
}

function readScripts(text: string): Readonly<Record<string, unknown>> {
  try {
    return manifestSchema.parse(JSON.parse(text.replace(/^\uFEFF/, ""))).scripts;
  } catch {
    return {};
  }
}
