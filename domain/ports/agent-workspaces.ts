const MEBIBYTE = 1024 * 1024;

/** The bounds on one workspace. */
export const WORKSPACE_LIMITS = {
  /** The total size of its files, each rounded up to whole blocks. */
  bytes: 64 * MEBIBYTE,
  /** The size of a block, in bytes. */
  blockBytes: 4096,
  /** Files and folders. */
  entries: 2000,
  /** The longest path, in bytes of UTF-8. */
  pathBytes: 1024,
} as const;

/** The workspace of an agent. */
export interface WorkspaceId {
  orgId: string;
  agentId: string;
}

export interface WorkspaceFile {
  /** Relative to the workspace, with `/` between segments. Any other character is possible, also line feeds. */
  path: string;
  /** In bytes. */
  size: number;
  modifiedAt: Date;
}

export interface WorkspaceContent {
  /** Sorted by path, in the order of UTF-16 code units. */
  files: WorkspaceFile[];
  /** The number of folders. */
  folders: number;
}

/** A part of a file. */
export interface FilePart {
  file: WorkspaceFile;
  bytes: Uint8Array;
}

/** What `save` did. */
export interface SavedWorkspace {
  /** Why the changes of the program were not saved, for its author; `null` if they were, or if it changed nothing. */
  problem: string | null;
  /** How many links, devices, pipes, sockets, and entries with an invalid or too long path were left out. */
  omitted: number;
}

/** The workspace that one program uses. */
export interface OpenWorkspace {
  /**
   * Reads the files before the program: a line with a JSON array of `[path, size, time of the last change in milliseconds]`,
   * in which folders have the size `null` and are before their content, and then the content of each file in that order.
   */
  read(): AsyncIterable<Uint8Array>;
  /**
   * Replaces the files by those in a folder of the host, all at once: after a crash, the workspace has either the files
   * before the call or those after it. No process may be using the folder. Its content is untrusted. At most once.
   */
  save(folder: string): Promise<SavedWorkspace>;
}

/** A call waited too long for the programs that use the workspace. */
export class WorkspaceInUse extends Error {
  override readonly name = "WorkspaceInUse";
}

/** The files that the programs of an agent keep. A workspace exists as soon as it has files. */
export interface AgentWorkspaces {
  /**
   * Opens a workspace for one program. Programs that change the same workspace run one after the other, also those of other
   * processes. Within a process, they run in the order of their calls. The wait for a process that was killed, or lost its
   * connection to the database, ends after a few seconds.
   *
   * @param options.readOnly - the program does not wait for others, and its changes are not saved
   * @param options.signal - ends the wait; it has no effect while `use` runs
   * @throws the reason of the signal
   */
  open<T>(
    id: WorkspaceId,
    options: { readOnly: boolean; signal: AbortSignal },
    use: (workspace: OpenWorkspace) => Promise<T>,
  ): Promise<T>;
  /** Lists the files. The workspace of an unknown agent is empty. */
  list(id: WorkspaceId): Promise<WorkspaceContent>;
  /** Reads at most `length` bytes from `offset`. Returns `null` if there is no such file. */
  readFile(id: WorkspaceId, path: string, part: { offset: number; length: number }): Promise<FilePart | null>;
  /**
   * Removes a file, or a folder with its content, or without a path everything. Waits for running programs.
   *
   * @returns how many files were removed, or `null` if there is no such file or folder
   * @throws {WorkspaceInUse}
   */
  clear(id: WorkspaceId, path: string | null): Promise<number | null>;
  /** Removes the workspace of a deleted agent. A running program cannot save it any more. Safe to repeat. */
  remove(id: WorkspaceId): Promise<void>;
  /** Returns how much the workspaces of an organization store, in bytes. */
  measure(orgId: string): Promise<number>;
  /** Lists all workspaces, for the sweep: those that have had files since their last removal, at least. */
  listAll(): Promise<WorkspaceId[]>;
}
