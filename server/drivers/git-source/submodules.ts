import { type OmittedFiles, type OmittedSubmodule, type SubmoduleProblem } from "./describe-omissions.ts";
import type { GitHost } from "./git-host.ts";
import { type GitRemote, resolveRemote } from "./resolve-remote.ts";
import { resolveSubmodule } from "./resolve-submodule.ts";
import { type CheckoutRun, gitEnvironment, runProgram } from "./run-git.ts";

/** How deep submodules of submodules are checked out, and how many altogether. */
const MAX_DEPTH = 4;
const MAX_SUBMODULES = 32;

/** A submodule, as a program in the sandbox reports it. */
export interface Submodule {
  /** Relative to the root of the checkout. */
  path: string;
  /** The id of its commit. */
  commit: string;
  /** What .gitmodules names; `null` if it names nothing. */
  url: string | null;
}

/** The number and size of all files that were written. */
export interface UsedSpace {
  files: number;
  bytes: number;
}

/** Submodules of one repository. */
interface Parent {
  /** As owner/name. */
  repo: string;
  submodules: readonly Submodule[];
}

interface WantedSubmodule extends Submodule {
  repo: string;
  remote: GitRemote;
}

interface SubmodulesReport {
  used: UsedSpace;
  /** In the order of the request. */
  modules: readonly { reason: SubmoduleProblem | null; submodules: readonly Submodule[]; unlisted: number }[];
  pointers: OmittedFiles;
}

/** What the checkout of submodules has added, and what it has not. */
export interface CheckedOutSubmodules {
  used: UsedSpace;
  /** Pointers of Git LFS in submodules. */
  pointers: OmittedFiles[];
  /** Their repositories, as owner/name. */
  repos: string[];
  omitted: OmittedSubmodule[];
  /** How many submodules of submodules are not in `omitted`. */
  unlisted: number;
}

export interface SubmoduleOptions {
  /** The repository with the submodules. */
  remote: GitRemote;
  used: UsedSpace;
  /** In milliseconds since the epoch. */
  deadline: number;
}

/**
 * Checks out submodules of the git host, and their submodules. Others, and those that cannot be checked out within the limits,
 * stay empty folders.
 */
export async function checkOutSubmodules(
  run: CheckoutRun,
  submodules: readonly Submodule[],
  options: SubmoduleOptions,
): Promise<CheckedOutSubmodules> {
  const result: CheckedOutSubmodules = { used: options.used, pointers: [], repos: [], omitted: [], unlisted: 0 };
  let parents: readonly Parent[] = [{ repo: run.checkout.repo, submodules }];
  let count = 0;
  for (let depth = 1; ; depth++) {
    const selected = selectSubmodules(run.host, parents, depth > MAX_DEPTH ? "depth" : MAX_SUBMODULES - count);
    result.omitted.push(...selected.omitted);
    if (selected.wanted.length === 0) return result;
    count += selected.wanted.length;
    const report = await checkOutLevel(run, selected.wanted, { ...options, used: result.used });
    result.used = report.used;
    result.pointers.push(report.pointers);
    result.repos.push(...selected.wanted.map(({ repo }) => repo));
    parents = selected.wanted.map((submodule, at) => readResult(submodule, report.modules[at], result));
  }
}

/** @param maxCount - how many may be checked out, or why none */
function selectSubmodules(host: GitHost, parents: readonly Parent[], maxCount: number | SubmoduleProblem) {
  const wanted: WantedSubmodule[] = [];
  const omitted: OmittedSubmodule[] = [];
  for (const { repo, submodules } of parents) {
    for (const submodule of submodules) {
      const found = findRemote(host, submodule, repo, wanted.length);
      const refusal = typeof found === "string" ? found : checkCount(wanted.length, maxCount);
      if (refusal !== null) omitted.push({ ...submodule, reason: refusal });
      else if (typeof found !== "string") wanted.push(found);
    }
  }
  return { wanted, omitted };
}

function checkCount(count: number, maxCount: number | SubmoduleProblem): SubmoduleProblem | null {
  if (typeof maxCount === "string") return maxCount;
  return count < maxCount ? null : "count";
}

function findRemote(
  host: GitHost,
  submodule: Submodule,
  parent: string,
  index: number,
): WantedSubmodule | SubmoduleProblem {
  const { path, url } = submodule;
  if (url === null) return "url";
  if (path.split("/").some((part) => part.startsWith("-"))) return "path";
  const repo = resolveSubmodule(url, host.base, parent);
  if (repo === null) return "host";
  const remote = resolveRemote(host, repo, `/remote/${index}`);
  return remote === null ? "fetch" : { ...submodule, repo, remote };
}

function checkOutLevel(
  run: CheckoutRun,
  wanted: readonly WantedSubmodule[],
  { remote, used, deadline }: SubmoduleOptions,
): Promise<SubmodulesReport> {
  const modules = wanted.map((each) => ({ path: each.path, commit: each.commit, urls: each.remote.urls }));
  const options = { limits: run.limits, used, modules, timeMs: Math.max(0, deadline - Date.now()) };
  return runProgram(run, {
    file: "submodules.mjs",
    args: [JSON.stringify(options)],
    env: gitEnvironment(remote),
    mounts: wanted.flatMap((each) => each.remote.mounts),
    repos: wanted.map(({ repo }) => repo),
  });
}

/** Adds the result of one submodule to `all`, and returns its own submodules. */
function readResult(
  { repo, path, url }: WantedSubmodule,
  result: SubmodulesReport["modules"][number] | undefined,
  all: CheckedOutSubmodules,
): Parent {
  const { reason, submodules, unlisted } = result ?? { reason: "fetch", submodules: [], unlisted: 0 };
  if (reason !== null) all.omitted.push({ path, url, reason });
  all.unlisted += unlisted;
  return { repo, submodules };
}
