import { readdir } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { detectPackageManager, type PackageManager } from "./detect-package-manager.ts";
import { findBuildScript } from "./inside/package-json.ts";
import { WRANGLER_CONFIGS } from "./inside/wrangler-api.ts";
import { findNestedPackages } from "./nested-packages.ts";
import { readHead, readPackageManagerVersion, readYarnLockVersion } from "./package-manager-version.ts";
import { toSingleLine } from "./single-line.ts";

const MAX_PACKAGE_JSON_BYTES = 1024 * 1024;

export const SVELTE_ADAPTER = "@sveltejs/adapter-cloudflare";
/** Adapters of SvelteKit for other hosts. */
const FOREIGN_SVELTE_ADAPTERS = ["@sveltejs/adapter-vercel", "@sveltejs/adapter-netlify"];
const NEXT_ADAPTER = "@opennextjs/cloudflare";

/** Packages of projects that use a SQL database. */
const DATABASE_CLIENTS = [
  ...["pg", "postgres", "pg-promise", "slonik", "@vercel/postgres"],
  ...["@prisma/client", "drizzle-orm", "knex", "kysely", "typeorm", "sequelize", "@mikro-orm/postgresql", "objection"],
];

const dependencies = z.record(z.string(), z.unknown()).default({});

const packageJsonSchema = z.object({
  packageManager: z.string().optional(),
  devEngines: z.unknown().optional(),
  engines: z.unknown().optional(),
  scripts: z.record(z.string(), z.unknown()).default({}),
  dependencies,
  devDependencies: dependencies,
  optionalDependencies: dependencies,
  workspaces: z.unknown().optional(),
});

const devEngine = z.object({ name: z.string(), version: z.string().optional() });

/** What a package.json must not have. It is read apart, so that another form of it is not an error. */
const devEnginesSchema = z.object({ packageManager: z.union([devEngine, z.array(devEngine)]) });

type PackageJson = z.infer<typeof packageJsonSchema>;

/** Where a build happens. All folders are relative to the source; `.` is all of it. */
export interface PackageLocation {
  /** The folder that is built and bundled. */
  packageDirectory: string;
  /** The folder in which packages are installed: the root of the workspace, if the package is part of one. */
  installDirectory: string;
  /** Whether the package is one of a workspace, and not its root. */
  isMember: boolean;
  /** The packages of the workspace to build first, in this order. */
  buildFirst: readonly string[];
}

/** The properties of a checkout that decide how it is built. */
export interface Project {
  location: PackageLocation;
  /** The names of the files and folders in the folder in which packages are installed. */
  rootEntries: ReadonlySet<string>;
  packageManager: PackageManager;
  /** The version of its package manager that the project requires; `null` if it requires none. */
  requestedVersion: string | null;
  /** Whether there are dependencies to install. */
  needsInstall: boolean;
  /** The name of the script that builds the project, if it has one. */
  buildScript: string | null;
  /** The folders of packages that scripts of the project use and that are in no workspace, relative to the source. */
  nestedPackages: readonly string[];
  /** Whether the project, or a package of its workspace, may use a SQL database. */
  usesDatabase: boolean;
  hasWranglerConfig: boolean;
  /** Whether the wrangler configuration is that of a Pages project. */
  isPages: boolean;
  /** Whether there is a file with settings for Vercel or Netlify. */
  hasHostingSettings: boolean;
  /** Whether adapter-auto of SvelteKit or an adapter for another host is used, and the Cloudflare adapter is not installed yet. */
  needsSvelteAdapter: boolean;
  /** Whether OpenNext has to turn a build of Next.js into a script, and the build script does not run it. */
  needsOpenNext: boolean;
}

/**
 * Reads the package of a checkout, and the folder in which its packages are installed. Runs on the host, because a sandboxed
 * process would take longer than the rest of a small build. It only lists names and parses JSON files, and follows no link.
 *
 * @throws {BuildFailure} `user` when package.json is invalid
 */
export async function readProject(sourceDirectory: string, location: PackageLocation): Promise<Project> {
  const directory = path.join(sourceDirectory, location.installDirectory);
  const packageDirectory = path.join(sourceDirectory, location.packageDirectory);
  const rootEntries = new Set(await readdir(directory));
  const packageEntries = new Set(await readdir(packageDirectory));
  // It can name the folder of the package as its base.
  const rootOfSource = new Set(await readdir(sourceDirectory));
  const installed = parsePackageJson(await readPackageJson(directory));
  const packageJson =
    directory === packageDirectory ? installed : parsePackageJson(await readPackageJson(packageDirectory));
  const lists = [packageJson.dependencies, packageJson.devDependencies, packageJson.optionalDependencies];
  const yarnLockVersion = await readYarnLockVersion(directory);
  const field = installed.packageManager ?? formatRequirement(installed.devEngines);
  const packageManager = detectPackageManager(field, rootEntries, yarnLockVersion);
  const required = { field, engines: installed.engines, yarnLockVersion };
  const build = packageJson.scripts["build"];
  const isWorkspace = directory !== packageDirectory || (await declaresPackages(directory, packageJson));
  const nestedPackages = isWorkspace ? [] : await findNestedPackages(packageDirectory, packageJson.scripts);
  const depends = (name: string) => lists.some((list) => Object.hasOwn(list, name));
  return {
    location,
    rootEntries,
    packageManager,
    requestedVersion: await readPackageManagerVersion(directory, packageManager, required),
    needsInstall:
      lists.some((list) => Object.keys(list).length > 0) ||
      isWorkspace ||
      nestedPackages.length > 0 ||
      // Yarn 2 and later runs no script before an install.
      packageManager === "yarn-berry",
    usesDatabase: isWorkspace || nestedPackages.length > 0 || DATABASE_CLIENTS.some(depends),
    buildScript: findBuildScript(packageJson) ?? null,
    nestedPackages: nestedPackages.map((folder) => path.join(location.packageDirectory, folder)),
    hasWranglerConfig: WRANGLER_CONFIGS.some((name) => packageEntries.has(name)),
    isPages: await isPagesProject(packageDirectory, packageEntries),
    hasHostingSettings:
      packageEntries.has("vercel.json") || packageEntries.has("netlify.toml") || rootOfSource.has("netlify.toml"),
    needsSvelteAdapter:
      ["@sveltejs/adapter-auto", ...FOREIGN_SVELTE_ADAPTERS].some(depends) && !depends(SVELTE_ADAPTER),
    // Without its configuration, OpenNext asks whether to create one.
    needsOpenNext:
      depends(NEXT_ADAPTER) && packageEntries.has("open-next.config.ts") && !String(build).includes("opennext"),
  };
}

/** The project without what turns it into a Worker. */
export function asNodeServer(project: Project): Project {
  return { ...project, hasWranglerConfig: false, isPages: false, needsSvelteAdapter: false, needsOpenNext: false };
}

async function isPagesProject(directory: string, entries: ReadonlySet<string>): Promise<boolean> {
  const config = WRANGLER_CONFIGS.find((name) => entries.has(name));
  return config !== undefined && /\bpages_build_output_dir\b/.test(await readHead(path.join(directory, config)));
}

/** Whether a folder declares packages of a workspace. A package.json that is invalid declares none here. */
export async function isWorkspaceRoot(directory: string): Promise<boolean> {
  const text = await readPackageJson(directory);
  try {
    return await declaresPackages(directory, parsePackageJson(text));
  } catch (error) {
    if (error instanceof BuildFailure) return false;
    throw error;
  }
}

async function declaresPackages(directory: string, { workspaces }: PackageJson): Promise<boolean> {
  // pnpm-workspace.yaml often has settings only.
  return workspaces !== undefined || /^packages\s*:/m.test(await readHead(path.join(directory, "pnpm-workspace.yaml")));
}

/** Returns `devEngines.packageManager`, such as `{"name": "pnpm", "version": "^10.0.0"}`, in the form of `packageManager`. */
function formatRequirement(devEngines: unknown): string | undefined {
  const { data } = devEnginesSchema.safeParse(devEngines);
  const requirement = [data?.packageManager].flat()[0];
  const version = requirement?.version?.replace(/^\D+/, "") ?? "";
  return requirement && `${requirement.name}@${version}`;
}

async function readPackageJson(directory: string): Promise<string> {
  try {
    return (await readUntrusted(path.join(directory, "package.json"), MAX_PACKAGE_JSON_BYTES)) ?? "{}";
  } catch (cause) {
    if (cause instanceof RangeError) throw invalidPackageJson("it is larger than 1 MiB.", cause);
    throw cause;
  }
}

function parsePackageJson(text: string): PackageJson {
  try {
    return packageJsonSchema.parse(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch (cause) {
    if (cause instanceof z.ZodError)
      throw invalidPackageJson(
        cause.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; "),
        cause,
      );
    throw invalidPackageJson((cause as Error).message, cause);
  }
}

function invalidPackageJson(reason: string, cause: unknown): BuildFailure {
  const message = `package.json is invalid: ${toSingleLine(reason)}`;
  return new BuildFailure("user", message, "Correct package.json, then deploy again.", { cause });
}
