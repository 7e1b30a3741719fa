import type { OpenWorkspace } from "../../../domain/ports/agent-workspaces.ts";

/** What happened to the files that a program left in its workspace. */
export interface WorkspaceResult {
  /** Lines for the author of the program. */
  notes: string[];
  /** Whether changes were not kept. */
  isLost: boolean;
}

const KEPT: WorkspaceResult = { notes: [], isLost: false };
const NOT_KEPT = "The changes of this program to /workspace were not kept.";

/** What a program receives that has no workspace of an agent. See `OpenWorkspace.read`. */
export async function* readEmptyWorkspace(): AsyncIterable<Uint8Array> {
  yield Buffer.from("[]\n");
}

/**
 * Saves the files that a program left. The program has ended, so its result is returned even if they cannot be saved.
 *
 * @param workspace - `null` for a temporary one, whose files are discarded
 */
export async function saveWorkspace(
  workspace: OpenWorkspace | null,
  folder: string,
  onInternalError: (error: unknown, name: string) => void,
): Promise<WorkspaceResult> {
  if (workspace === null) return KEPT;
  try {
    const { problem, omitted } = await workspace.save(folder);
    if (problem !== null) return { notes: [`${NOT_KEPT} ${problem}`], isLost: true };
    return omitted === 0 ? KEPT : { notes: [describeOmitted(omitted)], isLost: false };
  } catch (error) {
    onInternalError(error, "save the workspace");
    return { notes: [`${NOT_KEPT} The reason is an internal error of the service.`], isLost: true };
  }
}

function describeOmitted(count: number): string {
  const entries = count === 1 ? "1 entry" : `${count} entries`;
  return `${entries} of /workspace ${count === 1 ? "was" : "were"} not kept: only files and folders are, with a path of at most 1024 bytes of UTF-8.`;
}
