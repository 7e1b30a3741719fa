export interface SourceFile {
  /** Relative to the source folder, with `/` between segments. */
  path: string;
  read(): Promise<Uint8Array>;
}

/** The folders of one attempt of a deployment. */
export interface Workspace {
  sourceDirectory: string;
  outputDirectory: string;
  /** The regular files of the source folder. Links are skipped. */
  sourceFiles(): AsyncIterable<SourceFile>;
  /** The regular files of a folder in the workspace. Links are skipped. */
  filesIn(directory: string): AsyncIterable<SourceFile>;
  /** Reads a regular file in the workspace. */
  readFile(path: string): Promise<Uint8Array>;
  /** Reads a regular file in the workspace in parts of this size, in bytes; the last one can be smaller. */
  readFileInParts(path: string, partBytes: number): AsyncIterable<Uint8Array>;
  /** Writes a file below the output folder, which may arrive in parts. Returns its absolute path. */
  writeOutput(path: string, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string>;
  /** Creates a folder below the output folder, if it does not exist. Returns its absolute path. */
  createOutputFolder(path: string): Promise<string>;
  /** Copies a folder of the workspace to a new one beside the source. Links stay links. Returns the absolute path of the copy. */
  copyFolder(directory: string, name: string): Promise<string>;
  /** Removes a folder of the workspace. Succeeds if it does not exist. */
  removeFolder(directory: string): Promise<void>;
  /** Reads a text file of the source: `null` if nothing has this path, `undefined` if it is a link, a folder or not text. */
  readSourceText(path: string): Promise<string | null | undefined>;
  /**
   * Writes a text file of the source, or removes it with `null`.
   *
   * @throws {RangeError} when the path leads out of the source, or through a link
   */
  writeSourceText(path: string, text: string | null): Promise<void>;
  /** Removes all files of the workspace. Succeeds when there is nothing to remove. */
  remove(): Promise<void>;
}

/** The working folders of deployments. Nothing in them is kept after an attempt. */
export interface TemporaryWorkspaces {
  /** Opens an empty workspace. Every attempt has its own, so a worker that lost its lease cannot change a later one. */
  open(deploymentId: string, attempt: number): Promise<Workspace>;
  /** Removes the workspaces of an earlier process. Call it only while no deployment is running. */
  clear(): Promise<void>;
}
