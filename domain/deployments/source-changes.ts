import { diff3Merge } from "node-diff3";
import type { SourceFile, Workspace } from "../ports/temporary-workspaces.ts";
import { BuildFailure } from "../shared/errors.ts";
import { decodeText } from "../shared/plain-text.ts";

/** The change of one text file. */
export interface FileChange {
  /** Relative to the root of the repository. */
  path: string;
  /** `null` if the file is new. */
  before: string | null;
  /** `null` if the file is deleted. */
  after: string | null;
}

const CHANGE_LIMITS = { files: 200, bytes: 2 * 1024 * 1024 } as const;

/** Files that package managers write. */
const LOCKFILE = /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?)$/;

/**
 * Lists the text files that differ between two folders of a workspace. Other files are left out.
 *
 * @throws {BuildFailure} `user` when more differs than `CHANGE_LIMITS`
 */
export async function compareFolders(workspace: Workspace, before: string, after: string): Promise<FileChange[]> {
  const [old, current] = [await listFiles(workspace, before), await listFiles(workspace, after)];
  const changes: FileChange[] = [];
  let bytes = 0;
  for (const path of [...new Set([...old.keys(), ...current.keys()])].toSorted()) {
    const [from, to] = await Promise.all([old.get(path)?.read(), current.get(path)?.read()]);
    if (from !== undefined && to !== undefined && Buffer.compare(from, to) === 0) continue;
    // `undefined` for a file that is not text.
    const [was, is] = [from, to].map((content) => (content === undefined ? null : decodeText(content)));
    if (was === undefined || is === undefined) continue;
    bytes += LOCKFILE.test(path) ? 0 : (to?.length ?? 0);
    changes.push({ path, before: was, after: is });
    if (changes.length > CHANGE_LIMITS.files || bytes > CHANGE_LIMITS.bytes) throw tooManyChanges();
  }
  return changes;
}

async function listFiles(workspace: Workspace, directory: string): Promise<Map<string, SourceFile>> {
  const files = new Map<string, SourceFile>();
  for await (const file of workspace.filesIn(directory)) files.set(file.path, file);
  return files;
}

function tooManyChanges(): BuildFailure {
  return new BuildFailure(
    "user",
    `The app builder agent changed more than ${CHANGE_LIMITS.files} files or ${CHANGE_LIMITS.bytes / 1024 ** 2} MiB of text.`,
    "Ask for less in one customization, and deploy again.",
  );
}

/** What became of stored changes in another version of the source. */
export interface AppliedChanges {
  /** The changes against this version, for those that fit. */
  applied: FileChange[];
  /** The changes that do not fit. Their files are as in the repository. */
  conflicts: FileChange[];
}

/** Applies changes to the source of a workspace. A file that differs from `before` is merged line by line (diff3). */
export async function applyChanges(workspace: Workspace, changes: readonly FileChange[]): Promise<AppliedChanges> {
  const result: AppliedChanges = { applied: [], conflicts: [] };
  for (const change of changes) {
    const current = await workspace.readSourceText(change.path);
    const merged = current === undefined ? undefined : mergeChange(change, current);
    if (current === undefined || merged === undefined) {
      result.conflicts.push(change);
      continue;
    }
    await workspace.writeSourceText(change.path, merged);
    result.applied.push({ path: change.path, before: current, after: merged });
  }
  return result;
}

/** @returns the new text, `null` for no file, or `undefined` for a conflict */
function mergeChange({ before, after }: FileChange, current: string | null): string | null | undefined {
  if (current === before || current === after) return after;
  if (current === null || before === null || after === null) return undefined;
  const regions = diff3Merge(current.split("\n"), before.split("\n"), after.split("\n"), {
    excludeFalseConflicts: true,
  });
  if (regions.some((region) => region.conflict !== undefined)) return undefined;
  return regions.flatMap((region) => region.ok ?? []).join("\n");
}

/** Joins earlier changes with those that were made on top of them. */
export function joinChanges(earlier: readonly FileChange[], later: readonly FileChange[]): FileChange[] {
  const joined = new Map(earlier.map((change) => [change.path, change]));
  for (const change of later) {
    const { before } = joined.get(change.path) ?? change;
    joined.set(change.path, { ...change, before });
  }
  return [...joined.values()].filter(({ before, after }) => before !== after);
}

/** Formats changes as a unified diff, as git prints it. */
export async function formatPatch(changes: readonly FileChange[]): Promise<string> {
  return (await Promise.all(changes.map(formatFile))).join("");
}

export async function formatFile({ path, before, after }: FileChange): Promise<string> {
  const { createTwoFilesPatch } = await import("diff");
  const names = [before === null ? "/dev/null" : `a/${path}`, after === null ? "/dev/null" : `b/${path}`] as const;
  const mode = before === null ? "new file mode 100644\n" : after === null ? "deleted file mode 100644\n" : "";
  const patch = createTwoFilesPatch(...names, before ?? "", after ?? "", undefined, undefined, { context: 3 });
  // The library starts with a line of its own, which git does not print.
  return `diff --git a/${path} b/${path}\n${mode}${patch.replace(/^=+\n/, "")}`;
}
