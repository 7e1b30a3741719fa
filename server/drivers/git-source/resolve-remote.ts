import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Mount } from "../../ports/sandbox.ts";
import { type GitHost, originInSandbox } from "./git-host.ts";

/** Where a local repository is mounted inside the sandbox. */
const MOUNTED_REPOSITORY = "/remote";

/** How git inside the sandbox reaches one repository. */
export interface GitRemote {
  /** Tried in this order. The last one ends with `.git`, except for a local repository. */
  urls: readonly [string, ...string[]];
  /** The only protocol that git may use. */
  protocol: "https" | "http" | "file";
  mounts: readonly Mount[];
}

/**
 * @param mountedAt - where a local repository is mounted inside the sandbox
 * @returns `null` when the host is a local folder without this repository
 */
export function resolveRemote(host: GitHost, repo: string, mountedAt = MOUNTED_REPOSITORY): GitRemote | null {
  return host.base.protocol === "file:"
    ? resolveLocal(fileURLToPath(host.base), repo, mountedAt)
    : resolveHosted(host, repo);
}

/** Mounts only the repository, so the user of the sandbox needs no access to its parent folders. */
function resolveLocal(base: string, repo: string, mountedAt: string): GitRemote | null {
  for (const folder of [join(base, repo), join(base, `${repo}.git`)]) {
    if (!existsSync(folder)) continue;
    const mounts = [{ from: folder, to: mountedAt, writable: false }];
    return { urls: [`file://${mountedAt}`], protocol: "file", mounts };
  }
  return null;
}

function resolveHosted(host: GitHost, repo: string): GitRemote {
  const origin = originInSandbox(host);
  const url = `${origin}${host.base.pathname.replace(/(?<!\/)\/+$/, "")}/${repo}`;
  return { urls: [url, `${url}.git`], protocol: origin.startsWith("http:") ? "http" : "https", mounts: [] };
}
