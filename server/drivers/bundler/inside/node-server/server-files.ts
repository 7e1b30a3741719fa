import { findUnusedPackages } from "./find-unused-packages.ts";
import { completeStandalone } from "./next-standalone.ts";

/** Which files of the built project a Node server needs. See `PackedFiles`. */
export interface ServerFiles {
  command: string;
  standalone: { files: string; directory: string } | null;
  unusedPackages: string[];
}

/**
 * @param command - starts the server in the current folder
 * @param migration - runs before it. Its tool is in no standalone output
 */
export function selectServerFiles(root: string, command: string, migration: string | undefined): ServerFiles {
  const standalone = migration === undefined ? completeStandalone(command) : null;
  const commands = migration === undefined ? command : `${command} && ${migration}`;
  if (standalone === null) return { command, standalone, unusedPackages: findUnusedPackages(root, commands) };
  const { command: own, ...files } = standalone;
  return { command: own, standalone: files, unusedPackages: [] };
}
