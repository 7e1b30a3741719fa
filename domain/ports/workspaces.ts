export interface SourceFile {
  /** Relative to the source folder, with `/` between segments. */
  path: string;
  read(): Promise<Uint8Array>;
}

/** The scratch folders of one attempt of a deployment. */
export interface Workspace {
  sourceDirectory: string;
  outputDirectory: string;
  /** The regular files of the source folder; links are passed over, whatever they point at. */
  sourceFiles(): AsyncIterable<SourceFile>;
  /** Removes everything. Succeeds when there is nothing to remove. */
  remove(): Promise<void>;
}

/** Scratch space for deployments. Nothing in it outlives its attempt. */
export interface Workspaces {
  /** Opens an empty workspace for one attempt. Attempts never share one, so a late worker cannot harm another attempt. */
  open(deploymentId: string, attempt: number): Promise<Workspace>;
  /** Removes what an earlier process left. To be called only while no deployment is running. */
  clear(): Promise<void>;
}
