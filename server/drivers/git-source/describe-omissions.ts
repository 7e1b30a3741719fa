import { formatNames } from "../../../domain/shared/missing-variables.ts";
import { toPlainText } from "../../../domain/shared/plain-text.ts";

/** Files of a branch of which a checkout has no content. */
export interface OmittedFiles {
  /** The paths of the first ones. */
  names: readonly string[];
  count: number;
}

/** Why pointers of Git LFS were not replaced. */
export type LargeFileProblem = keyof typeof LARGE_FILE_PROBLEMS;

const LARGE_FILE_PROBLEMS = {
  host: "the git host does not serve Git LFS for the repository",
  missing: "the git host does not have the content",
  limits: "the checkout would exceed its limits",
  format: "the text of the pointer is not valid",
  address: "the git host names an address that is neither its own nor one with HTTPS",
  content: "the download does not have the size and the hash of the pointer",
  download: "the download failed",
  time: "the checkout took too long",
} as const;

/** Why a submodule is an empty folder. */
export type SubmoduleProblem = keyof typeof SUBMODULE_PROBLEMS;

const SUBMODULE_PROBLEMS = {
  host: "only submodules of the git host are cloned, with a URL of owner/name",
  url: ".gitmodules has no URL for it",
  path: "the path is not valid",
  fetch: "the git host has no such commit, or the service cannot read it",
  limits: "the checkout would exceed its limits",
  files: "the files could not be written",
  depth: "submodules are nested too deep",
  count: "the repository has too many submodules",
  time: "the checkout took too long",
} as const;

export interface OmittedSubmodule {
  path: string;
  url: string | null;
  reason: SubmoduleProblem;
}

/** Warns of files in Git LFS of which a checkout has only the pointers. The names come from the repository. */
export function describeLargeFiles(omitted: Readonly<Partial<Record<LargeFileProblem, OmittedFiles>>>): string[] {
  return Object.entries(omitted).map(([reason, files]) => {
    const verb = files.count === 1 ? "has" : "have";
    const cause = LARGE_FILE_PROBLEMS[reason as LargeFileProblem];
    return `Git LFS: ${listPaths(files)} ${verb} only the text of a pointer, because ${cause}. Commit the content to git, or load it from another host.`;
  });
}

/** Warns of submodules that a checkout does not contain. Paths and URLs come from the repository. */
export function describeSubmodules(omitted: readonly OmittedSubmodule[], unlisted: number): string[] {
  const warnings = [...Map.groupBy(omitted, ({ reason }) => reason)].map(([reason, submodules]) => {
    const names = submodules.map(({ path, url }) => (url === null ? path : `${path} (${withoutCredentials(url)})`));
    const verb = submodules.length === 1 ? "is" : "are";
    return `Submodules: ${listPaths({ names, count: names.length })} ${verb} empty, because ${SUBMODULE_PROBLEMS[reason]}. Commit the files to the repository, or use a package.`;
  });
  if (unlisted > 0) warnings.push(`Submodules: ${unlisted} more are empty, because ${SUBMODULE_PROBLEMS.count}.`);
  return warnings;
}

function withoutCredentials(url: string): string {
  return url.replace(/^([a-z+]+:\/\/)[^@/]*@/i, "$1");
}

const MAX_PATH_LENGTH = 120;

function listPaths({ names, count }: OmittedFiles): string {
  const shown = names
    .slice(0, MAX_LISTED)
    .map((name) => toPlainText(name).replaceAll("\n", " ").slice(0, MAX_PATH_LENGTH));
  return formatNames(count > shown.length ? [...shown, `${count - shown.length} more`] : shown);
}

const MAX_LISTED = 5;
