import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Mount } from "../../ports/sandbox.ts";

/** Where a local repository is mounted inside the sandbox. */
const MOUNTED_REPOSITORY = "/remote";

/** How git inside the sandbox reaches one repository. */
export interface GitRemote {
  /** Tried in this order. They contain no credentials. The last one ends with `.git`, except for a local repository. */
  urls: readonly [string, ...string[]];
  /** The only protocol that git may use. */
  protocol: "https" | "http" | "file";
  /** The `host:port` that git must reach; `null` when the repository is mounted. */
  host: string | null;
  mounts: readonly Mount[];
  /** The header `Authorization` for the git host; `null` when it needs none. */
  authorization: string | null;
  /** git configuration as environment variables, possibly with credentials. */
  env: Readonly<Record<string, string>>;
}

/**
 * @param mountedAt - where a local repository is mounted inside the sandbox
 * @returns `null` when the base URL is a local folder without this repository
 */
export function resolveRemote(base: URL, repo: string, mountedAt = MOUNTED_REPOSITORY): GitRemote | null {
  return base.protocol === "file:" ? resolveLocal(fileURLToPath(base), repo, mountedAt) : resolveHosted(base, repo);
}

/** Mounts only the repository, so the user of the sandbox needs no access to its parent folders. */
function resolveLocal(base: string, repo: string, mountedAt: string): GitRemote | null {
  for (const folder of [join(base, repo), join(base, `${repo}.git`)]) {
    if (!existsSync(folder)) continue;
    const mounts = [{ from: folder, to: mountedAt, writable: false }];
    return { urls: [`file://${mountedAt}`], protocol: "file", host: null, mounts, authorization: null, env: {} };
  }
  return null;
}

function resolveHosted(base: URL, repo: string): GitRemote {
  const protocol = base.protocol === "http:" ? "http" : "https";
  const url = `${base.origin}${base.pathname.replace(/(?<!\/)\/+$/, "")}/${repo}`;
  const port = base.port || (protocol === "http" ? "80" : "443");
  const authorization = base.username || base.password ? basicAuthorization(base) : null;
  return {
    urls: [url, `${url}.git`],
    protocol,
    host: `${base.hostname}:${port}`,
    mounts: [],
    authorization,
    env: authorization === null ? {} : authorizationHeader(base.origin, authorization),
  };
}

function basicAuthorization({ username, password }: URL): string {
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

/** Sends the credentials of the base URL as a header. In the URL, they would appear in git's output. */
function authorizationHeader(origin: string, authorization: string): Record<string, string> {
  return {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${origin}/.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: ${authorization}`,
  };
}
