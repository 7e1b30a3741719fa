/** Receives what a step prints, as raw bytes of the child process: untrusted, unbounded and perhaps not UTF-8. */
export type OutputListener = (chunk: Uint8Array) => void;

export interface Checkout {
  /** `owner/name`, already checked against the repository rules. */
  repo: string;
  /** A branch name that `git check-ref-format` accepts. */
  branch: string;
  /** An absent or empty folder that the checkout fills; owned by the caller, who also removes it. */
  directory: string;
  onOutput: OutputListener;
  signal: AbortSignal;
}

/** Where the source code of apps comes from. */
export interface GitSource {
  /**
   * Checks out the tip of one branch, without history, hooks, submodules or filters; no `.git` folder remains.
   * Safe to repeat into an emptied folder.
   *
   * @throws {BuildFailure} `user` for an absent branch, an absent or private repository (one message for both), or
   *   one past the caps on size, files and time; `platform` when the git host does not answer
   */
  checkOut(checkout: Checkout): Promise<{ commit: string }>;
}
