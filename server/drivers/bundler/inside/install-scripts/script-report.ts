/** What run-install-scripts.ts writes. Code of the project runs beside it, so the host treats it as data of the project. */
export interface ScriptReport {
  /** Whether Prisma ran its script, and has no engine after it. */
  lacksEngines: boolean;
  failures: ScriptFailure[];
  /** Whether a script of a package created a file outside of `node_modules`. */
  wroteOutside: boolean;
}

export interface ScriptFailure {
  /** `null` for a script of the project itself. */
  packageName: string | null;
  event: string;
  code: number;
  tail: string[];
  /** Whether the build goes on. */
  isTolerated: boolean;
}
