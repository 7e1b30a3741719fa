import type { IncomingMessage, ServerResponse } from "node:http";
import { type GitServer, gitServer } from "./git-server.ts";

export interface GiteaHost extends GitServer {
  /** The token that the host accepts; `null` for none. */
  acceptedToken: string | null;
}

/**
 * A git host with the API of Gitea, whose repositories only a token can read. It serves the bare repositories in a folder, and lists
 * `acme/site`, `acme/docs` and the branches of the first one.
 */
export async function giteaHost(folder: string, acceptedToken: string): Promise<GiteaHost> {
  const host: { acceptedToken: string | null } = { acceptedToken };
  const server = await gitServer(folder, (request, response) => respond(host.acceptedToken, request, response));
  return Object.assign(host, server);
}

/** The header with which git sends a token to Gitea. */
export function basicOf(token: string): string {
  return `Basic ${Buffer.from(`git:${token}`).toString("base64")}`;
}

function respond(token: string | null, request: IncomingMessage, response: ServerResponse): boolean {
  const url = new URL(request.url ?? "/", "http://host");
  const answer = (status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    return true;
  };
  if (!url.pathname.startsWith("/api/")) {
    if (token !== null && request.headers.authorization === basicOf(token)) return false;
    return answer(401, {});
  }
  if (token === null || request.headers.authorization !== `token ${token}`) return answer(401, {});
  if (url.pathname === "/api/v1/user") return answer(200, { login: "robot" });
  if (url.pathname === "/api/v1/repos/search") {
    const site = { full_name: "acme/site", default_branch: "main", private: true, updated_at: "2026-11-20T10:00:00Z" };
    return answer(200, { data: [site, { ...site, full_name: "acme/docs" }].filter(matches(url)) });
  }
  if (url.pathname === "/api/v1/repos/acme/site/branches")
    return answer(
      200,
      ["main", "next"].map((name) => ({ name, commit: { id: "a".repeat(40) } })),
    );
  return answer(404, {});
}

function matches(url: URL) {
  return ({ full_name }: { full_name: string }) => full_name.includes(url.searchParams.get("q") ?? "");
}
