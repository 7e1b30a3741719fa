/** Receives the files of an archive one after the other. Each method may throw an error, which ends the reading. */
export interface ArchivedFiles {
  /** How many bytes all further files together may have. */
  readonly remainingBytes: number;
  /** Checks the path of a folder. */
  checkFolder(path: string): void;
  /** Checks a path before the content of the file is read. */
  reserve(path: string): void;
  add(path: string, content: Uint8Array): void;
}

/** Reads untrusted archives. */
export interface ArchiveReader {
  /**
   * Reads the files of a zip file into `files`. It stops at the first byte beyond `remainingBytes`, whatever size the
   * archive declares. Files that macOS adds to every archive are left out.
   *
   * @throws {ServiceError} `invalid` for a damaged archive, and for entries that are encrypted, links or devices
   */
  readZip(archive: Uint8Array, files: ArchivedFiles): Promise<void>;
}
