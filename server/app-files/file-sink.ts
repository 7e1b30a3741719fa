import type { FileHandle } from "node:fs/promises";
import type { TreePath, WalkOptions } from "./tree-files.ts";

export interface AddTreeOptions {
  isExcluded?: WalkOptions["isExcluded"];
  /** Stores a file in another way. Returns whether it did. The path is relative to the tree. */
  addFile?: (entry: FileEntry, path: TreePath) => Promise<boolean>;
}

/** An open file of a tree. */
export type FileEntry = { mode: number; modifiedAt: number; file: FileHandle };

/** Receives the files of apps. */
export interface FileSink {
  /**
   * Adds a folder with its content.
   *
   * @param prefix - its path in the sink
   */
  addTree(prefix: TreePath, folder: string, options?: AddTreeOptions): Promise<void>;
  addFile(path: TreePath, entry: FileEntry): Promise<void>;
  /** Reports what is left out, or not in a consistent state. */
  warn(message: string): void;
}
