import { findUnusedPackages } from "./find-unused-packages.ts";
import { completeStandalone } from "./next-standalone.ts";

/** Which files of the built project a Node server needs. See `PackedFiles`. */
export interface ServerFiles {
  command: string;
  standalone: { files: string; directory: string } | null;
  unusedPackages: string[];
}

/** @param command - starts the server in the current folder */
export function selectServerFiles(root: string, command: string): ServerFiles {
  const standalone = completeStandalone(command);
  if (standalone === null) return { command, standalone, unusedPackages: findUnusedPackages(root, command) };
  const { command: own, ...files } = standalone;
  return { command: own, standalone: files, unusedPackages: [] };
}
