import type { OutputListener } from "./git-source.ts";

/** What is in an archive that can be unpacked. */
export interface ArchiveContents {
  /** Without folders and symbolic links. */
  fileCount: number;
  /** All files together, unpacked. */
  bytes: number;
}

export interface Unpacking {
  /** The bytes of the archive. They are read once. */
  archive: AsyncIterable<Uint8Array>;
  /** The folder for the files, absent or empty. The caller owns and removes it. */
  directory: string;
  onOutput: OutputListener;
  signal: AbortSignal;
}

/**
 * The source code of apps that have no repository: tar archives, plain or compressed by gzip or Zstandard. They may contain files, folders,
 * and symbolic links that stay inside. Everything else makes an archive invalid. A folder `.git` is left out.
 */
export interface ArchiveSource {
  /**
   * Reads a whole archive, and checks everything that `unpack` checks.
   *
   * @returns `problem`: why it cannot be unpacked, as a sentence for its owner
   */
  inspect(archive: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<ArchiveContents | { problem: string }>;
  /**
   * Writes the files of an archive. Files are executable or not; they keep nothing else of their modes. Safe to repeat with an emptied
   * folder.
   *
   * @returns warnings about what is left out, each as one line for the app's owner
   * @throws {BuildFailure} `user` for an archive that cannot be unpacked
   */
  unpack(unpacking: Unpacking): Promise<readonly string[]>;
  /** Packs texts, which may have any paths. The same texts always become the same bytes. */
  pack(files: Readonly<Record<string, string>>): AsyncIterable<Uint8Array>;
}
