import path from "node:path";
import { z } from "zod";
import { parseJson } from "../../../domain/shared/json.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { toSingleLine } from "./single-line.ts";

/** A dependency that is not in the package registry. */
export interface ForeignPackage {
  name: string;
  /** What package.json or the lockfile says, such as `github:owner/repository`. */
  source: string;
}

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FOUND = 5;

/** Git repositories, their short forms, and tarballs of other hosts. */
const FOREIGN =
  /^(git(\+\w+)?:|git@|github:|gitlab:|bitbucket:|gist:|https?:\/\/(?!registry\.npmjs\.org\/|registry\.yarnpkg\.com\/)|[\w-]+\/[\w.-]+(#.*)?$)/;

const specs = z.record(z.string(), z.string()).default({}).catch({});
const manifestSchema = z.object({ dependencies: specs, devDependencies: specs, optionalDependencies: specs });

/** Entries of package-lock.json, yarn.lock, pnpm-lock.yaml and bun.lock whose source is a repository of git. */
const LOCKED: readonly RegExp[] = [
  /"node_modules\/((?:@[^/"]+\/)?[^/"]+)": \{\s+(?:"version": "[^"]*",\s+)?"resolved": "(git[^"]+)"/g,
  /^"?((?:@[^/"@]+\/)?[^"@\s]+)@(git[+:@][^",:]*:?\/\/[^",]+|github:[^",]+)/gm,
  /^ {2}'?((?:@[^/@]+\/)?[^@\s']+)@(https:\/\/codeload\.github\.com\/[^:'(\s]+|git\+[^:'(\s]+:[^:'(\s]+)/gm,
];

/** Finds the dependencies of a project that are not in the package registry, those of package.json first. */
export async function findForeignPackages(directory: string): Promise<ForeignPackage[]> {
  const found = [...(await inManifest(directory)), ...(await inLockfiles(directory))];
  const unique = new Map(found.map((each) => [each.name, each]));
  return [...unique.values()].slice(0, MAX_FOUND);
}

async function inManifest(directory: string): Promise<ForeignPackage[]> {
  const text = await read(path.join(directory, "package.json"));
  const parsed = manifestSchema.safeParse(parseJson(text.replace(/^\uFEFF/, ""))).data;
  return Object.entries({ ...parsed?.dependencies, ...parsed?.devDependencies, ...parsed?.optionalDependencies })
    .filter(([, source]) => FOREIGN.test(source))
    .map(([name, source]) => ({ name: toSingleLine(name), source: toSingleLine(source) }));
}

async function inLockfiles(directory: string): Promise<ForeignPackage[]> {
  const names = ["package-lock.json", "yarn.lock", "pnpm-lock.yaml"];
  const texts = await Promise.all(names.map((name) => read(path.join(directory, name))));
  return texts.flatMap((text, index) =>
    [...text.matchAll(LOCKED[index] ?? /$^/g)].map(([, name = "", source = ""]) => ({
      name: toSingleLine(name),
      source: toSingleLine(source),
    })),
  );
}

async function read(file: string): Promise<string> {
  return (await readUntrusted(file, MAX_BYTES).catch(() => null)) ?? "";
}
