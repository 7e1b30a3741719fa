import { generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { jwtVerify } from "jose";
import { type GitServer, gitServer } from "./git-server.ts";

/** A token that the host has issued, and for what. */
export interface IssuedToken {
  token: string;
  repositories: readonly string[] | null;
  permissions: Readonly<Record<string, string>>;
}

export interface GitHubHost extends GitServer {
  /** The private key of the app, as PEM in PKCS#1, as GitHub generates it. */
  privateKey: string;
  publicKey: KeyObject;
  issued: IssuedToken[];
  /** The repositories of the installation. */
  repositories: string[];
  state: "installed" | "suspended" | "deleted";
  /** For how long a token is valid. */
  lifetimeMs: number;
}

export const APP_ID = "4242";
export const INSTALLATION_ID = 77;
const ACCOUNT = "acme";

/**
 * GitHub as an app sees it: the API of GitHub Enterprise Server, at `/api/v3`, and git. It accepts a JWT of the app only with a valid
 * signature, and for git only a token that it has issued for the repository.
 */
export async function githubHost(folder: string): Promise<GitHubHost> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const host: Omit<GitHubHost, keyof GitServer> = {
    privateKey: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
    publicKey,
    issued: [],
    repositories: ["acme/site", "acme/docs"],
    state: "installed",
    lifetimeMs: 3_600_000,
  };
  const server = await gitServer(folder, (request, response) => {
    const path = new URL(request.url ?? "/", "http://host").pathname;
    if (!path.startsWith("/api/v3/")) return !isPermitted(host, path, request, response);
    void respond(host, path.slice("/api/v3".length), request, response);
    return true;
  });
  return Object.assign(host, server);
}

type Host = Omit<GitHubHost, keyof GitServer>;

/** Git: responds with 404, unless the token is for the repository. */
function isPermitted(host: Host, path: string, { headers }: IncomingMessage, response: ServerResponse): boolean {
  const repo = path
    .split("/")
    .slice(1, 3)
    .join("/")
    .replace(/\.git$/, "");
  const [, credentials = ""] = /^Basic (.*)$/.exec(headers.authorization ?? "") ?? [];
  const [user, token] = Buffer.from(credentials, "base64").toString().split(":");
  const issued = host.issued.find((each) => each.token === token);
  if (user === "x-access-token" && host.state === "installed" && canRead(host, issued, repo)) return true;
  response.writeHead(404).end();
  return false;
}

function canRead(host: Host, issued: IssuedToken | undefined, repo: string): boolean {
  const isNamed = issued?.repositories?.some((name) => `${ACCOUNT}/${name}` === repo) === true;
  return isNamed && host.repositories.includes(repo) && issued?.permissions["contents"] === "read";
}

async function respond(host: Host, path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = (status: number, body: unknown) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const bearer = /^Bearer (.*)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
  const issued = host.issued.find(({ token }) => token === bearer);
  if (path === "/installation/repositories") {
    if (issued?.permissions["metadata"] !== "read") return answer(401, { message: "Bad credentials" });
    const repositories = host.repositories.map((full_name) => ({
      ...{ full_name, default_branch: "main", private: true, pushed_at: "2026-11-20T10:00:00Z" },
    }));
    return answer(200, { total_count: repositories.length, repositories });
  }
  const [, repo] = /^\/repos\/([^/]+\/[^/]+)\/branches$/.exec(path) ?? [];
  if (repo !== undefined)
    return canRead(host, issued, repo)
      ? answer(200, [{ name: "main", commit: { sha: "b".repeat(40) } }])
      : answer(404, {});
  if (!(await isOfApp(host, bearer))) return answer(401, { message: "A JSON web token could not be decoded" });
  return respondToApp(host, path, request, answer);
}

async function isOfApp({ publicKey }: Host, jwt: string): Promise<boolean> {
  try {
    const { payload } = await jwtVerify(jwt, publicKey, { algorithms: ["RS256"], issuer: APP_ID });
    return (payload.exp ?? Infinity) - Date.now() / 1000 <= 600;
  } catch {
    return false;
  }
}

async function respondToApp(
  host: Host,
  path: string,
  request: IncomingMessage,
  answer: (status: number, body: unknown) => void,
): Promise<void> {
  if (host.state === "deleted") return answer(404, { message: "Not Found" });
  const installation = {
    id: INSTALLATION_ID,
    account: { login: ACCOUNT },
    suspended_at: host.state === "suspended" ? "2026-11-20T10:00:00Z" : null,
  };
  const own = [`/app/installations/${INSTALLATION_ID}`, `/orgs/${ACCOUNT}/installation`];
  if (own.includes(path) || host.repositories.some((repo) => path === `/repos/${repo}/installation`))
    return answer(200, installation);
  if (path === "/app/installations") return answer(200, [installation]);
  if (path !== `/app/installations/${INSTALLATION_ID}/access_tokens` || request.method !== "POST")
    return answer(404, {});
  if (host.state === "suspended") return answer(403, { message: "This installation has been suspended" });
  const { repositories = null, permissions = {} } = (await json(request)) as Partial<IssuedToken>;
  if (repositories?.some((name) => !host.repositories.includes(`${ACCOUNT}/${name}`)) === true) return answer(422, {});
  const token = `ghs_${randomBytes(18).toString("hex")}`;
  host.issued.push({ token, repositories, permissions });
  const expires_at = new Date(Date.now() + host.lifetimeMs).toISOString();
  return answer(201, { token, expires_at, permissions, repository_selection: "selected" });
}
