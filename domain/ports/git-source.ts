import type { GitAccess } from "./git-hosts.ts";

/** Receives the output of a step: raw bytes of untrusted code, of any length and perhaps not UTF-8. */
export type OutputListener = (chunk: Uint8Array) => void;

export interface Checkout {
  /** `owner/name`, already validated. */
  repo: string;
  /** The connected host that has the repository; without it, the service's own git host. */
  access?: GitAccess | null;
  /** A branch name that `git check-ref-format` accepts. */
  branch: string;
  /** The full id of the commit to check out; without it, the newest one of the branch. */
  commit?: string | null;
  /** Checks out the repository's default branch if it does not have `branch`. The output names it. */
  orDefaultBranch?: boolean;
  /** The folder for the files, absent or empty. The caller owns and removes it. */
  directory: string;
  onOutput: OutputListener;
  signal: AbortSignal;
}

export interface CheckedOut {
  /** The id of the commit. */
  commit: string;
  /** The default branch of the repository, if it was checked out in place of `branch`. */
  branch?: string;
  /** What the checkout lacks of the branch, such as submodules of other hosts. Each is one line for the app's owner. */
  warnings?: readonly string[];
}

/** One message for a repository that does not exist and one that is private: it does not disclose which repositories exist. */
export const REPOSITORY_NOT_READABLE = "The repository does not exist, or the service cannot read it.";

/** The source code of apps. */
export interface GitSource {
  /**
   * Checks out the tip of one branch, or the commit, without history, hooks or filters, with the submodules and the files in Git
   * LFS that the git host serves. Leaves no `.git` folder. Safe to repeat with an emptied folder.
   *
   * @throws {BuildFailure} `user` when the branch or the commit does not exist, when the repository does not exist or is private
   *   (both have the same message), or when a limit on size, files or time is exceeded; `platform` when the git host
   *   does not respond
   */
  checkOut(checkout: Checkout): Promise<CheckedOut>;
}

/** The newest commits of branches. */
export interface GitTips {
  /**
   * Asks the git host for the id of the newest commit of a branch, without its contents.
   *
   * @throws {BuildFailure} as a checkout does
   */
  readTip(branch: Omit<Checkout, "commit" | "orDefaultBranch">): Promise<string>;
}
