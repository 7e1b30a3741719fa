import type { PackageManager } from "../../detect-package-manager.ts";

/** What inside/run-install-scripts.ts runs. */
export interface ScriptPlan {
  /** The scripts of installed packages, or those of the project and its packages in the workspace. */
  phase: "packages" | "project";
  packageManager: PackageManager;
  /** The version of the package manager that the project names, if it does. */
  version: string | null;
  /** The folders of the project and its packages, relative to the folder in which packages were installed. */
  projects: readonly string[];
  /** The scripts of the project, in the order in which its package manager runs them. */
  events: readonly string[];
  registryUrl: string;
  /** The folder of the source in the sandbox. */
  source: string;
}

const INSTALL = ["preinstall", "install", "postinstall"] as const;
const PREPARE = ["preprepare", "prepare", "postprepare"] as const;

/** The scripts of a project that its package manager runs after an install, in this order. */
export const PROJECT_EVENTS: Readonly<Record<PackageManager, readonly string[]>> = {
  npm: [...INSTALL, "prepublish", ...PREPARE],
  pnpm: [...INSTALL, ...PREPARE],
  yarn: [...INSTALL, "prepublish", "prepare"],
  "yarn-berry": INSTALL,
  bun: [...INSTALL, ...PREPARE],
};
