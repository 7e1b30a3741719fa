import { readdir, readlink } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { readUntrusted } from "../../../sandbox/untrusted-file.ts";

/** The files that decide what an install creates. */
export interface InstallInputs {
  /** The texts of the files and the targets of all links, by their path in the source, in a fixed order. */
  files: ReadonlyMap<string, string>;
  /** The texts of the files that scripts of packages commonly read; `null` if they are too large. */
  scriptFiles: ReadonlyMap<string, string> | null;
  /** The folders of the source that have a package.json, and may get a `node_modules`; `.` is the source itself. */
  packageDirectories: readonly string[];
}

/** Manifests, lockfiles, settings of package managers, and files that a lockfile can refer to. */
const INPUT = new RegExp(
  [
    String.raw`^package\.(json|json5|yaml)$`,
    String.raw`^(package-lock|npm-shrinkwrap)\.json$|^pnpm-(lock|workspace)\.yaml$|^yarn\.lock$|^bun\.lockb?$`,
    String.raw`^\.(npmrc|pnpmrc|yarnrc|yarnrc\.yml|bun-version)$|^bunfig\.toml$`,
    String.raw`\.(patch|diff|tgz|tar|tar\.gz|zip)$`,
  ].join("|"),
);

/** Schemas of Prisma, and settings of tools. The scripts of packages commonly read these files of the project. */
const SCRIPT_INPUT = /\.prisma$|\.config\.[cm]?[jt]s$|^\.?[\w-]+rc(\.\w+)?$/;

const MANIFEST = /^package\.(json|json5|yaml)$/;
const SETTINGS = /^(\.(npmrc|pnpmrc|yarnrc|yarnrc\.yml)|pnpm-workspace\.yaml|bunfig\.toml)$/;

/** Code of the project that an install runs, and settings that name such code or copy folders of the project. */
const CODE = /^\.?pnpmfile\.[cm]?js$/;
const CODE_SETTING = /pnpmfile|plugins|install-?links/i;

/** A dependency on a file or a folder of the project. An install may copy from it. */
const LOCAL = /^(file|portal|exec):|^\.{0,2}\/|^~\//;
const LOCAL_IN_LOCKFILE = /["'@:\s](file|portal|exec):|^"?[^\s"]+@\.{0,2}\//m;

const MAX_FOLDERS = 5000;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_SCRIPT_BYTES = 4 * 1024 * 1024;

const manifestSchema = z.looseObject({ bin: z.unknown().optional(), directories: z.unknown().optional() });
const DEPENDENCY_FIELDS = [
  "dependencies",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
  "resolutions",
  "overrides",
  "pnpm",
] as const;

/**
 * Reads everything in a checkout that an install depends on. Follows no link.
 *
 * @returns `null` if the result of the install can depend on more: on code or folders of the project, on installed
 *   packages in the repository, or on more files than are read
 */
export async function readInstallInputs(sourceDirectory: string): Promise<InstallInputs | null> {
  const found = await findInputs(sourceDirectory);
  if (found === null) return null;
  const files = new Map<string, string>();
  let bytesLeft = MAX_BYTES;
  for (const { file, isLink, isForScripts } of found.toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
    if (isForScripts) continue;
    const text = await readInput(path.join(sourceDirectory, file), isLink, bytesLeft);
    if (text === null || (!isLink && dependsOnMore(file, text))) return null;
    bytesLeft -= text.length;
    files.set(file, text);
  }
  const scriptFiles = await readScriptFiles(sourceDirectory, found);
  const manifests = found.filter(({ file, isLink }) => !isLink && MANIFEST.test(path.basename(file)));
  return { files, scriptFiles, packageDirectories: manifests.map(({ file }) => path.dirname(file)) };
}

interface FoundInput {
  file: string;
  isLink: boolean;
  /** Whether only scripts read it, and not the install. */
  isForScripts: boolean;
}

async function findInputs(sourceDirectory: string): Promise<FoundInput[] | null> {
  const found: FoundInput[] = [];
  const folders = ["."];
  for (let index = 0; index < folders.length; index++) {
    if (index >= MAX_FOLDERS) return null;
    const folder = folders[index] ?? ".";
    for (const entry of await readdir(path.join(sourceDirectory, folder), { withFileTypes: true })) {
      if (entry.name === "node_modules" || CODE.test(entry.name)) return null;
      const [file, isLink] = [path.join(folder, entry.name), entry.isSymbolicLink()];
      // A workspace may contain a folder by a link.
      const isInput = isLink || INPUT.test(entry.name);
      if (isLink || (entry.isFile() && (isInput || SCRIPT_INPUT.test(entry.name))))
        found.push({ file, isLink, isForScripts: !isInput });
      else if (entry.isDirectory() && entry.name !== ".git") folders.push(file);
    }
  }
  return found;
}

async function readScriptFiles(
  sourceDirectory: string,
  found: readonly FoundInput[],
): Promise<ReadonlyMap<string, string> | null> {
  const files = new Map<string, string>();
  let bytesLeft = MAX_SCRIPT_BYTES;
  for (const { file } of found.filter((each) => each.isForScripts).toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
    const text = await readInput(path.join(sourceDirectory, file), false, bytesLeft);
    if (text === null) return null;
    bytesLeft -= text.length;
    files.set(file, text);
  }
  return files;
}

async function readInput(file: string, isLink: boolean, limitBytes: number): Promise<string | null> {
  if (isLink) return readlink(file, "latin1");
  // Every byte of a binary file is a character.
  return readUntrusted(file, limitBytes, "latin1").catch(nullIfTooLarge);
}

function dependsOnMore(file: string, text: string): boolean {
  const name = path.basename(file);
  if (SETTINGS.test(name)) return CODE_SETTING.test(text) || LOCAL_IN_LOCKFILE.test(text);
  if (name === "package.json") return manifestDependsOnMore(text, path.dirname(file) === ".");
  return MANIFEST.test(name) || (/lock/.test(name) && LOCAL_IN_LOCKFILE.test(text));
}

function manifestDependsOnMore(text: string, isRoot: boolean): boolean {
  const manifest = parseManifest(text);
  if (manifest === null) return true;
  // An install makes a program of a workspace executable in the source, if the file exists.
  if (!isRoot && (manifest.bin !== undefined || manifest.directories !== undefined)) return true;
  return DEPENDENCY_FIELDS.some((field) => hasLocal(manifest[field]));
}

function parseManifest(text: string): z.infer<typeof manifestSchema> | null {
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function hasLocal(value: unknown): boolean {
  if (typeof value === "string") return LOCAL.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasLocal);
}

function nullIfTooLarge(error: unknown): null {
  if (error instanceof RangeError) return null;
  throw error;
}
