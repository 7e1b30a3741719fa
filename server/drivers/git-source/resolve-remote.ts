import { access } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Mount } from "../../../domain/ports/sandbox.ts";

/** Where the one repository of a file base is found inside. */
const LOCAL_REPOSITORY = "/remote";

/** How the inside of a sandbox reaches one repository. */
export interface GitRemote {
  /** To be tried in this order. They carry no secret. */
  urls: readonly [string, ...string[]];
  /** The only protocol git may speak. */
  protocol: "https" | "http" | "file";
  /** The `host:port` that must be reachable; `null` when the repository is mounted instead. */
  host: string | null;
  mounts: readonly Mount[];
  /** Configuration by environment, which holds what may be secret. */
  env: Readonly<Record<string, string>>;
}

/** @returns `null` when the base is a folder that has no such repository */
export async function gitRemote(base: URL, repo: string): Promise<GitRemote | null> {
  return base.protocol === "file:" ? localRemote(fileURLToPath(base), repo) : hostedRemote(base, repo);
}

/** Only the repository is mounted, so the folders that lead to it need not be open to whom the sandbox runs as. */
async function localRemote(base: string, repo: string): Promise<GitRemote | null> {
  for (const folder of [join(base, repo), join(base, `${repo}.git`)]) {
    if (!(await exists(folder))) continue;
    const mounts = [{ from: folder, to: LOCAL_REPOSITORY, writable: false }];
    return { urls: [`file://${LOCAL_REPOSITORY}`], protocol: "file", host: null, mounts, env: {} };
  }
  return null;
}

function hostedRemote(base: URL, repo: string): GitRemote {
  const protocol = base.protocol === "http:" ? "http" : "https";
  const url = `${base.origin}${base.pathname.replace(/\/+$/, "")}/${repo}`;
  const port = base.port || (protocol === "http" ? "80" : "443");
  return {
    urls: [url, `${url}.git`],
    protocol,
    host: `${base.hostname}:${port}`,
    mounts: [],
    env: base.username || base.password ? authorization(base) : {},
  };
}

/** As a header, and not in the URL, the user and password of the base never show in what git prints. */
function authorization({ origin, username, password }: URL): Record<string, string> {
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${origin}/.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(credentials).toString("base64")}`,
  };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
