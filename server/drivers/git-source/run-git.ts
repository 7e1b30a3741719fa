import type { Checkout } from "../../../domain/ports/git-source.ts";
import type { Mount, Sandbox, SandboxNetwork, SandboxOutcome } from "../../ports/sandbox.ts";
import { type Lookup, lookupAll } from "../../sandbox/connect-to-host.ts";
import { type EgressOptions, EgressProxy } from "../../sandbox/egress-proxy.ts";
import { SANDBOX_NODE } from "../../sandbox/sandbox-environment.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { gitHostUnavailable, limitExceeded } from "./checkout-failures.ts";
import type { CheckoutLimits } from "./checkout-limits.ts";
import { GitForwarder } from "./git-forwarder.ts";
import { type GitHost, originInSandbox } from "./git-host.ts";
import type { GitRemote } from "./resolve-remote.ts";

const MEBIBYTE = 1024 * 1024;
const MAX_REPORT_BYTES = 4 * MEBIBYTE;

/** The folder of the programs that run inside the sandbox, and where it is mounted. */
const PROGRAM_FOLDER = `${import.meta.dirname}/inside`;
const MOUNTED_PROGRAMS = "/opt/checkout";

/** What every program of one checkout uses. */
export interface CheckoutRun {
  sandbox: Sandbox;
  limits: CheckoutLimits;
  host: GitHost;
  lookup: Lookup | undefined;
  checkout: Checkout;
  /** The folder for the objects of git and the reports. */
  repository: string;
}

/** A program of `inside`. */
export interface CheckoutProgram {
  file: "checkout.mjs" | "submodules.mjs" | "large-files.mjs" | "tip.mjs";
  args: readonly string[];
  nodeOptions?: readonly string[];
  env: Readonly<Record<string, string>>;
  mounts: readonly Mount[];
  /** What of the git host it can read, and at which port it can connect to all hosts with public addresses. */
  repos: readonly string[];
  publicPort?: number;
}

/**
 * Runs a program in the sandbox, and returns its report.
 *
 * @throws {BuildFailure} `user` when it exceeds a limit
 * @throws the reason of the signal of the checkout when that was aborted
 */
export async function runProgram<Report>(run: CheckoutRun, program: CheckoutProgram): Promise<Report> {
  const outcome = await runInside(run, program);
  const { checkout, limits, repository } = run;
  checkout.signal.throwIfAborted();
  if (outcome.reason === "time") throw limitExceeded("wallTimeMs", limits);
  if (outcome.reason === "memory" || outcome.reason === "disk") throw limitExceeded("totalBytes", limits);
  if (outcome.reason !== "exit" || outcome.code !== 0) throw gitHostUnavailable(JSON.stringify(outcome));
  return JSON.parse((await readUntrusted(`${repository}/report.json`, MAX_REPORT_BYTES)) ?? "") as Report;
}

async function runInside(run: CheckoutRun, program: CheckoutProgram): Promise<SandboxOutcome> {
  if (run.host.base.protocol === "file:") return runCommand(run, program, { kind: "none" });
  await using proxy = await EgressProxy.open(egressTo(run, program));
  return await runCommand(run, program, { kind: "proxy", socketPath: proxy.socketPath });
}

function runCommand(
  { sandbox, limits, checkout, repository }: CheckoutRun,
  { file, args, nodeOptions = [], env, mounts }: CheckoutProgram,
  network: SandboxNetwork,
): Promise<SandboxOutcome> {
  return sandbox.run({
    argv: [SANDBOX_NODE, ...nodeOptions, `${MOUNTED_PROGRAMS}/${file}`, ...args],
    cwd: "/source",
    env: { ...env, GIT_DIR: "/repository", GIT_WORK_TREE: "/source" },
    mounts: [
      { from: checkout.directory, to: "/source", writable: true },
      { from: repository, to: "/repository", writable: true },
      { from: PROGRAM_FOLDER, to: MOUNTED_PROGRAMS, writable: false },
      ...mounts,
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
  });
}

/** The environment of git. It is the same for all repositories of one git host. */
export function gitEnvironment({ protocol }: Pick<GitRemote, "protocol">): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: "/tmp/home",
    // `describeFetchError` reads git's output, so it must be in English.
    LC_ALL: "C",
    GIT_CONFIG_GLOBAL: `${MOUNTED_PROGRAMS}/gitconfig`,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_TERMINAL_PROMPT: "0",
  };
}

/** A host without a credential is reached at its address. For others, a forwarder adds the credential. */
export function egressTo(
  { host, limits, lookup = lookupAll }: Pick<CheckoutRun, "host" | "limits" | "lookup">,
  program: Pick<CheckoutProgram, "publicPort" | "repos">,
): EgressOptions {
  const { base, authorization, isAllowedAddress } = host;
  const options = { isAllowedAddress, lookup, ...(program.publicPort && { publicPort: program.publicPort }) };
  if (authorization === null) return { ...options, allow: [hostAndPort(base)] };
  const { repos } = program;
  const maxBytes = limits.totalBytes + MAX_EXTRA_BYTES;
  const { answer } = new GitForwarder({ ...host, authorization, repos, maxBytes, lookup });
  return { ...options, allow: [], answered: { authority: hostAndPort(new URL(originInSandbox(host))), answer } };
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === "http:" ? "80" : "443")}`;
}

/** What a host may send beside the contents of files: lists of branches, trees and batches of Git LFS. */
const MAX_EXTRA_BYTES = 64 * MEBIBYTE;
