import { formatNames } from "../../../domain/shared/missing-variables.ts";
import { toPlainText } from "../../../domain/shared/plain-text.ts";

/** Files of a branch of which a checkout has no content. */
export interface OmittedFiles {
  /** The paths of the first ones. */
  names: readonly string[];
  count: number;
}

/** Warns of the files of a branch that a checkout does not contain. The names come from the repository. */
export function describeOmissions(pointers: OmittedFiles, submodules: OmittedFiles): string[] {
  const warnings: string[] = [];
  if (pointers.count > 0)
    warnings.push(
      `Git LFS is not supported: ${listPaths(pointers)} ${pointers.count === 1 ? "has" : "have"} only the text of an LFS pointer. Commit the content to git, or load it from another host.`,
    );
  if (submodules.count > 0)
    warnings.push(
      `Submodules are not cloned: ${listPaths(submodules)} ${submodules.count === 1 ? "is" : "are"} empty. Commit the files to the repository, or use a package.`,
    );
  return warnings;
}

const MAX_PATH_LENGTH = 80;

function listPaths({ names, count }: OmittedFiles): string {
  const shown = names
    .slice(0, MAX_LISTED)
    .map((name) => toPlainText(name).replaceAll("\n", " ").slice(0, MAX_PATH_LENGTH));
  return formatNames(count > shown.length ? [...shown, `${count - shown.length} more`] : shown);
}

const MAX_LISTED = 5;
