import { mkdir, mkdtemp, rm } from "node:fs/promises";
import type { CheckedOut, Checkout, GitSource } from "../../../domain/ports/git-source.ts";
import type { Sandbox, SandboxCommand, SandboxNetwork, SandboxOutcome } from "../../ports/sandbox.ts";
import type { Lookup } from "../../sandbox/connect-to-host.ts";
import { EgressProxy } from "../../sandbox/egress-proxy.ts";
import { SANDBOX_NODE } from "../../sandbox/sandbox-environment.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import {
  describeFetchError,
  filesNotWritable,
  gitHostUnavailable,
  limitExceeded,
  repositoryNotReadable,
} from "./checkout-failures.ts";
import { type CheckoutLimits, type CheckoutViolation, DEFAULT_LIMITS } from "./checkout-limits.ts";
import { describeOmissions, type OmittedFiles } from "./describe-omissions.ts";
import { type GitRemote, resolveRemote } from "./resolve-remote.ts";

const MEBIBYTE = 1024 * 1024;
const MAX_REPORT_BYTES = 64 * 1024;

/** The folder of the program that runs inside the sandbox. */
const PROGRAM_FOLDER = `${import.meta.dirname}/inside`;

/** The file `report.json` that `inside/checkout.mjs` writes to the folder of the repository. */
type CheckoutReport =
  | { outcome: "done"; commit: string; branch: string | null; pointers: OmittedFiles; submodules: OmittedFiles }
  | { outcome: "not-fetched" | "not-written"; error: string }
  | { outcome: "refused"; reason: CheckoutViolation };

export interface SandboxedGitOptions {
  /** `owner/name` is appended to it: `https://github.com`, `http://127.0.0.1:8080`, `file:///srv/git`. */
  baseUrl: string;
  sandbox: Sandbox;
  limits?: Partial<CheckoutLimits>;
  /** Resolves the name of the git host. */
  lookup?: Lookup;
}

/**
 * Checks out repositories of one git host, or of a local folder, with git in the sandbox. The sandbox can reach that
 * host only, so redirects and submodules cannot lead elsewhere. The contents of a branch are checked against the
 * limits before any file is written. When the service runs as root, a local repository must be readable by all users.
 */
export class SandboxedGit implements GitSource {
  readonly #base: URL;
  readonly #sandbox: Sandbox;
  readonly #limits: CheckoutLimits;
  readonly #lookup: Lookup | undefined;

  constructor({ baseUrl, sandbox, limits, lookup }: SandboxedGitOptions) {
    this.#base = new URL(baseUrl);
    this.#sandbox = sandbox;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#lookup = lookup;
  }

  async checkOut(checkout: Checkout): Promise<CheckedOut> {
    const remote = resolveRemote(this.#base, checkout.repo);
    if (remote === null) throw repositoryNotReadable();
    await mkdir(checkout.directory, { recursive: true });
    // Inside the workspace, so that it is removed with the workspace if this process is killed.
    const repository = await mkdtemp(`${checkout.directory}.git-`);
    try {
      const outcome = await this.#runGit(checkout, remote, repository);
      return await this.#readOutcome(checkout, outcome, repository);
    } finally {
      await rm(repository, { recursive: true, force: true });
    }
  }

  async #runGit(checkout: Checkout, remote: GitRemote, repository: string): Promise<SandboxOutcome> {
    if (remote.host === null) {
      return this.#sandbox.run(this.#command(checkout, remote, repository, { kind: "none" }));
    }
    const lookup = this.#lookup ? { lookup: this.#lookup } : {};
    await using proxy = await EgressProxy.open({ allow: [remote.host], ...lookup });
    const network = { kind: "proxy", socketPath: proxy.socketPath } as const;
    return await this.#sandbox.run(this.#command(checkout, remote, repository, network));
  }

  #command(checkout: Checkout, remote: GitRemote, repository: string, network: SandboxNetwork): SandboxCommand {
    const limits = this.#limits;
    const { commit = null, orDefaultBranch = false } = checkout;
    const options = { limits, commit, orDefaultBranch };
    const program = "/opt/checkout/checkout.mjs";
    return {
      argv: [SANDBOX_NODE, program, checkout.branch, JSON.stringify(options), ...remote.urls],
      cwd: "/source",
      env: { ...gitEnvironment(remote), GIT_DIR: "/repository", GIT_WORK_TREE: "/source" },
      mounts: [
        { from: checkout.directory, to: "/source", writable: true },
        { from: repository, to: "/repository", writable: true },
        { from: PROGRAM_FOLDER, to: "/opt/checkout", writable: false },
        ...remote.mounts,
      ],
      network,
      limits: {
        wallTimeMs: limits.wallTimeMs,
        memoryMb: 1024,
        processes: 128,
        fileSizeMb: Math.ceil(limits.totalBytes / MEBIBYTE),
        // The pack, the files, and the overhead of the file system for many small files.
        diskMb: Math.ceil((2.5 * limits.totalBytes) / MEBIBYTE) + 256,
        outputBytes: MEBIBYTE,
      },
      onOutput: checkout.onOutput,
      signal: checkout.signal,
    };
  }

  async #readOutcome(checkout: Checkout, outcome: SandboxOutcome, repository: string): Promise<CheckedOut> {
    checkout.signal.throwIfAborted();
    if (outcome.reason === "time") throw limitExceeded("wallTimeMs", this.#limits);
    if (outcome.reason === "memory" || outcome.reason === "disk") throw limitExceeded("totalBytes", this.#limits);
    if (outcome.reason !== "exit" || outcome.code !== 0) throw gitHostUnavailable(JSON.stringify(outcome));
    const report = await readReport(repository);
    switch (report.outcome) {
      case "done":
        return describeCheckout(report);
      case "refused":
        throw limitExceeded(report.reason, this.#limits);
      case "not-written":
        checkout.onOutput(Buffer.from(report.error));
        throw filesNotWritable();
      case "not-fetched":
        checkout.onOutput(Buffer.from(report.error));
        throw describeFetchError(report.error, checkout);
    }
  }
}

function describeCheckout(report: Extract<CheckoutReport, { outcome: "done" }>): CheckedOut {
  const { commit, branch, pointers, submodules } = report;
  return { commit, ...(branch === null ? {} : { branch }), warnings: describeOmissions(pointers, submodules) };
}

async function readReport(repository: string): Promise<CheckoutReport> {
  return JSON.parse((await readUntrusted(`${repository}/report.json`, MAX_REPORT_BYTES)) ?? "");
}

function gitEnvironment({ protocol, env }: GitRemote): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: "/tmp/home",
    // `describeFetchError` reads git's output, so it must be in English.
    LC_ALL: "C",
    GIT_CONFIG_GLOBAL: "/opt/checkout/gitconfig",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_TERMINAL_PROMPT: "0",
    ...env,
  };
}
