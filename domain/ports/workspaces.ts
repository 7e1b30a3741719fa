export interface SourceFile {
  /** Relative to the source folder, with `/` between segments. */
  path: string;
  read(): Promise<Uint8Array>;
}

/** The scratch folders of one build. */
export interface Workspace {
  sourceDirectory: string;
  outputDirectory: string;
  /** The regular files of the source folder; links are passed over, whatever they point at. */
  sourceFiles(): AsyncIterable<SourceFile>;
  /** Removes everything. Succeeds when there is nothing to remove. */
  remove(): Promise<void>;
}

/** Where builds do their work; nothing in it outlives a build. */
export interface Workspaces {
  /** Opens an empty workspace for one attempt of a build; attempts never share one, so a late worker harms nobody. */
  open(buildId: string, attempt: number): Promise<Workspace>;
  /** Removes what an earlier process left. Only right while no build is running. */
  clear(): Promise<void>;
}
