import { constants } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import type { Checkout, GitSource } from "../../../domain/ports/git-source.ts";
import type { Sandbox, SandboxCommand, SandboxNetwork, SandboxOutcome } from "../../../domain/ports/sandbox.ts";
import { EgressProxy, type Lookup } from "../../sandbox/egress-proxy.ts";
import { SANDBOX_NODE } from "../../sandbox/sandbox-environment.ts";
import { type CheckoutCaps, DEFAULT_CAPS } from "./checkout-limits.ts";
import { type CheckoutReport, notFetched, refused, unavailable, unfit, unreadable } from "./checkout-failures.ts";
import { type GitRemote, gitRemote } from "./resolve-remote.ts";

const MEBIBYTE = 1024 * 1024;
const INSIDE = `${import.meta.dirname}/inside`;

export interface GitHostOptions {
  /** What `owner/name` is appended to: `https://github.com`, `http://127.0.0.1:8080`, `file:///srv/git`. */
  baseUrl: string;
  sandbox: Sandbox;
  caps?: Partial<CheckoutCaps>;
  /** How the git host's name is resolved. */
  lookup?: Lookup;
}

/**
 * The repositories of one git host, or of a local folder. Git runs in the sandbox, where nothing but that host can be
 * reached, whatever redirects or submodules a repository has; the branch is judged by the caps before any file of it is
 * written. A local repository must be readable by everyone when the service runs as root.
 */
export class GitHost implements GitSource {
  readonly #base: URL;
  readonly #sandbox: Sandbox;
  readonly #caps: CheckoutCaps;
  readonly #lookup: Lookup | undefined;

  constructor({ baseUrl, sandbox, caps, lookup }: GitHostOptions) {
    this.#base = new URL(baseUrl);
    this.#sandbox = sandbox;
    this.#caps = { ...DEFAULT_CAPS, ...caps };
    this.#lookup = lookup;
  }

  async checkOut(checkout: Checkout): Promise<{ commit: string }> {
    const remote = await gitRemote(this.#base, checkout.repo);
    if (remote === null) throw unreadable();
    await mkdir(checkout.directory, { recursive: true });
    // Beside the checkout, so that it goes with the workspace when we are killed before we remove it.
    const repository = await mkdtemp(`${checkout.directory}.git-`);
    try {
      const outcome = await this.#runGit(checkout, remote, repository);
      return await this.#judge(checkout, outcome, repository);
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
    const caps = this.#caps;
    const script = "/opt/checkout/checkout.mjs";
    return {
      argv: [SANDBOX_NODE, script, checkout.branch, JSON.stringify(caps), ...remote.urls],
      cwd: "/source",
      env: { ...gitEnvironment(remote), GIT_DIR: "/repository", GIT_WORK_TREE: "/source" },
      mounts: [
        { from: checkout.directory, to: "/source", writable: true },
        { from: repository, to: "/repository", writable: true },
        { from: INSIDE, to: "/opt/checkout", writable: false },
        ...remote.mounts,
      ],
      network,
      limits: {
        wallTimeMs: caps.wallTimeMs,
        memoryMb: 1024,
        processes: 128,
        fileSizeMb: Math.ceil(caps.totalBytes / MEBIBYTE),
        // The pack and the files, and room for what the file system adds to many small ones.
        diskMb: Math.ceil((2.5 * caps.totalBytes) / MEBIBYTE) + 256,
        outputBytes: MEBIBYTE,
      },
      onOutput: checkout.onOutput,
      signal: checkout.signal,
    };
  }

  async #judge(checkout: Checkout, outcome: SandboxOutcome, repository: string): Promise<{ commit: string }> {
    checkout.signal.throwIfAborted();
    if (outcome.ended === "time") throw refused("wallTimeMs", this.#caps);
    if (outcome.ended === "memory" || outcome.ended === "disk") throw refused("totalBytes", this.#caps);
    if (outcome.ended !== "exit" || outcome.code !== 0) throw unavailable(JSON.stringify(outcome));
    const report = await readReport(repository);
    switch (report.outcome) {
      case "done":
        return { commit: report.commit };
      case "refused":
        throw refused(report.reason, this.#caps);
      case "not-written":
        checkout.onOutput(Buffer.from(report.error));
        throw unfit();
      case "not-fetched":
        checkout.onOutput(Buffer.from(report.error));
        throw notFetched(report.error, checkout.branch);
    }
  }
}

/** The folder was in the hands of hostile data, so a link in it is not followed. */
async function readReport(repository: string): Promise<CheckoutReport> {
  const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
  return JSON.parse(await readFile(`${repository}/report.json`, { encoding: "utf8", flag }));
}

function gitEnvironment({ protocol, env }: GitRemote): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: "/tmp/home",
    // What git prints is read, so it must be in English.
    LC_ALL: "C",
    GIT_CONFIG_GLOBAL: "/opt/checkout/gitconfig",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_TERMINAL_PROMPT: "0",
    ...env,
  };
}
