import { mkdir, mkdtemp, rm } from "node:fs/promises";
import type { CheckedOut, Checkout, GitSource, GitTips } from "../../../domain/ports/git-source.ts";
import type { GitAccess } from "../../../domain/ports/git-hosts.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import type { Lookup } from "../../sandbox/connect-to-host.ts";
import { isPublic, isReachable } from "../../sandbox/public-address.ts";
import { describeFetchError, filesNotWritable, limitExceeded, repositoryNotReadable } from "./checkout-failures.ts";
import { type CheckoutLimits, type CheckoutViolation, DEFAULT_LIMITS } from "./checkout-limits.ts";
import { describeLargeFiles, describeSubmodules, type OmittedFiles } from "./describe-omissions.ts";
import { type GitHost, splitCredentials } from "./git-host.ts";
import { replaceLargeFiles } from "./large-files.ts";
import { type GitRemote, resolveRemote } from "./resolve-remote.ts";
import { type CheckoutRun, gitEnvironment, runProgram } from "./run-git.ts";
import { type CheckedOutSubmodules, checkOutSubmodules, type Submodule, type UsedSpace } from "./submodules.ts";

/** What `inside/checkout.mjs` reports. */
type CheckoutReport =
  | DoneReport
  | { outcome: "not-fetched" | "not-written"; error: string }
  | { outcome: "refused"; reason: CheckoutViolation };

interface DoneReport {
  outcome: "done";
  commit: string;
  branch: string | null;
  used: UsedSpace;
  pointers: OmittedFiles;
  submodules: readonly Submodule[];
  /** How many submodules are not in `submodules`. */
  unlisted: number;
}

export interface SandboxedGitOptions {
  /** `owner/name` is appended to it: `https://github.com`, `http://127.0.0.1:8080`, `file:///srv/git`. */
  baseUrl: string;
  sandbox: Sandbox;
  limits?: Partial<CheckoutLimits>;
  /** How long submodules and files in Git LFS may take together. Whatever takes longer is left out. */
  completionMs?: number;
  /** Which addresses a connected host may have. */
  isAllowedAddress?: (address: string) => boolean;
  /** Resolves the name of the git host, and of hosts of files in Git LFS. */
  lookup?: Lookup;
}

/**
 * Checks out repositories of one git host, or of a local folder, with git in the sandbox. Git can reach that host only, so
 * redirects and submodules cannot lead elsewhere. The contents of a branch are checked against the limits before any file
 * is written. Submodules and files in Git LFS come after that, within the same limits, and what cannot be fetched is a
 * warning. When the service runs as root, a local repository must be readable by all users.
 */
export class SandboxedGit implements GitSource, GitTips {
  readonly #host: GitHost;
  readonly #sandbox: Sandbox;
  readonly #limits: CheckoutLimits;
  readonly #completionMs: number;
  readonly #isAllowedAddress: (address: string) => boolean;
  readonly #lookup: Lookup | undefined;

  constructor({ baseUrl, sandbox, limits, completionMs, isAllowedAddress, lookup }: SandboxedGitOptions) {
    this.#host = { ...splitCredentials(baseUrl), isAllowedAddress: isReachable };
    this.#sandbox = sandbox;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#completionMs = completionMs ?? this.#limits.wallTimeMs * COMPLETION_SHARE;
    this.#isAllowedAddress = isAllowedAddress ?? isPublic;
    this.#lookup = lookup;
  }

  checkOut(checkout: Checkout): Promise<CheckedOut> {
    return this.#open(checkout, async (run, remote) => {
      const report = await checkOutRoot(run, remote);
      const { commit, branch } = report;
      return { commit, ...(branch === null ? {} : { branch }), warnings: await this.#complete(run, remote, report) };
    });
  }

  readTip(branch: Omit<Checkout, "commit" | "orDefaultBranch">): Promise<string> {
    return this.#open(branch, readTip);
  }

  async #open<T>(checkout: Checkout, use: (run: CheckoutRun, remote: GitRemote) => Promise<T>): Promise<T> {
    const host = this.#findHost(checkout.access ?? null);
    const remote = resolveRemote(host, checkout.repo);
    if (remote === null) throw repositoryNotReadable();
    await mkdir(checkout.directory, { recursive: true });
    // Inside the workspace, so that it is removed with the workspace if this process is killed.
    const repository = await mkdtemp(`${checkout.directory}.git-`);
    const run = { sandbox: this.#sandbox, limits: this.#limits, host, lookup: this.#lookup, checkout, repository };
    try {
      return await use(run, remote);
    } finally {
      await rm(repository, { recursive: true, force: true });
    }
  }

  #findHost(access: GitAccess | null): GitHost {
    if (access === null) return this.#host;
    const { url, authorization } = access;
    return { base: new URL(url), authorization, isAllowedAddress: this.#isAllowedAddress };
  }

  /** Adds submodules and files in Git LFS. Returns warnings of those that are absent. */
  async #complete(run: CheckoutRun, remote: GitRemote, report: DoneReport): Promise<string[]> {
    const { submodules, unlisted } = report;
    const deadline = Date.now() + this.#completionMs;
    const options = { remote, used: report.used, deadline };
    const modules = await checkOutSubmodules(run, submodules, options);
    const largeFiles = await addLargeFiles(run, report.pointers, modules, deadline);
    return [...largeFiles, ...describeSubmodules(modules.omitted, unlisted + modules.unlisted)];
  }
}

async function addLargeFiles(
  run: CheckoutRun,
  own: OmittedFiles,
  { pointers, repos, used }: CheckedOutSubmodules,
  deadline: number,
): Promise<string[]> {
  const all = mergeFiles([own, ...pointers]);
  if (all.count === 0) return [];
  if (run.host.base.protocol === "file:") return describeLargeFiles({ host: all });
  return describeLargeFiles(await replaceLargeFiles(run, [run.checkout.repo, ...repos], { used, deadline }));
}

/** The part of the time limit of a checkout that submodules and files in Git LFS may take. */
const COMPLETION_SHARE = 0.8;

async function readTip(run: CheckoutRun, remote: GitRemote): Promise<string> {
  const { checkout } = run;
  const report = await runProgram<{ outcome: "tip"; commit: string } | { outcome: "not-fetched"; error: string }>(run, {
    file: "tip.mjs",
    args: [checkout.branch, ...remote.urls],
    env: gitEnvironment(remote),
    mounts: remote.mounts,
    repos: [checkout.repo],
  });
  if (report.outcome === "tip") return report.commit;
  throw describeFetchError(report.error, checkout);
}

async function checkOutRoot(run: CheckoutRun, remote: GitRemote): Promise<DoneReport> {
  const { checkout, limits } = run;
  const { commit = null, orDefaultBranch = false } = checkout;
  const report = await runProgram<CheckoutReport>(run, {
    file: "checkout.mjs",
    args: [checkout.branch, JSON.stringify({ limits, commit, orDefaultBranch }), ...remote.urls],
    env: gitEnvironment(remote),
    mounts: remote.mounts,
    repos: [checkout.repo],
  });
  switch (report.outcome) {
    case "done":
      return report;
    case "refused":
      throw limitExceeded(report.reason, limits);
    case "not-written":
      checkout.onOutput(Buffer.from(report.error));
      throw filesNotWritable();
    case "not-fetched":
      checkout.onOutput(Buffer.from(report.error));
      throw describeFetchError(report.error, checkout);
  }
}

function mergeFiles(lists: readonly OmittedFiles[]): OmittedFiles {
  return { names: lists.flatMap(({ names }) => names), count: lists.reduce((sum, { count }) => sum + count, 0) };
}
