import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { CommitState, CommitStatus, GitHostAccess, GitHostKind } from "../../../domain/ports/git-hosts.ts";
import { CheckedGitHosts } from "../../../server/drivers/git-hosts/checked-git-hosts.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const STATUS: CommitStatus = {
  commit: COMMIT,
  state: "success",
  context: "deploy/site-1a2b3c4d",
  description: "Deployment 2: live",
  url: "https://apps.example.com/apps/1/deployments/2",
};

type Body = Record<string, string>;
type Answer = { status: number; body?: unknown };

interface Host {
  path: string;
  /** Checks a status as the reference of the host says. The state that a commit has already is an error at GitLab only. */
  respond: (body: Body, previous: Body | undefined) => Answer;
}

const isOneOf = (value: string | undefined, ...allowed: string[]): boolean => allowed.includes(value ?? "");

const HOSTS = {
  github: {
    path: `/api/v3/repos/acme/site/statuses/${COMMIT}`,
    respond: ({ state, description = "" }) => {
      const isValid = isOneOf(state, "error", "failure", "pending", "success") && description.length <= 140;
      return { status: isValid ? 201 : 422 };
    },
  },
  gitlab: {
    path: `/api/v4/projects/acme%2Fsite/statuses/${COMMIT}`,
    respond: ({ state }, previous) => {
      if (!isOneOf(state, "pending", "running", "success", "failed", "canceled", "skipped")) return { status: 400 };
      if (state !== previous?.["state"]) return { status: 201 };
      return { status: 400, body: { message: `Cannot transition status via :succeed from :${state}` } };
    },
  },
  gitea: {
    path: `/api/v1/repos/acme/site/statuses/${COMMIT}`,
    respond: ({ state }) => ({
      status: isOneOf(state, "pending", "success", "error", "failure", "warning") ? 201 : 422,
    }),
  },
  bitbucket: {
    path: `/2.0/repositories/acme/site/commit/${COMMIT}/statuses/build`,
    respond: ({ state, key = "", url = "" }) => {
      const isValid = isOneOf(state, "INPROGRESS", "SUCCESSFUL", "FAILED", "STOPPED");
      return { status: isValid && key !== "" && key.length <= 40 && URL.canParse(url) ? 201 : 400 };
    },
  },
} satisfies Partial<Record<GitHostKind, Host>>;

interface Told {
  path: string | undefined;
  authorization: string | undefined;
  body: Body;
  status: number;
}

/** A git host of a kind on loopback, with what it was told. */
async function startHost({ path, respond }: Host) {
  const told: Told[] = [];
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const body = (await json(request)) as Body;
    if (request.method !== "POST" || request.url !== path) return { status: 404 };
    const response = respond(body, told.findLast(({ status }) => status === 201)?.body);
    told.push({ path: request.url, authorization: request.headers.authorization, body, status: response.status });
    return response;
  };
  const server = createServer((request, response) => {
    void answer(request).then(({ status, body = {} }) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url, told, [Symbol.asyncDispose]: close };
}

const accessTo = (kind: GitHostKind, url: string): GitHostAccess => ({
  kind,
  url,
  authorization: "Basic Z2l0OnRva2Vu",
  apiAuthorization: "Bearer token",
});

const KINDS = Object.entries(HOSTS) as [keyof typeof HOSTS, Host][];

test.each(KINDS)("%s accepts each state of a commit, at its own path and with the token", async (kind, host) => {
  await using server = await startHost(host);
  const hosts = new CheckedGitHosts({ networks: ["127.0.0.1"] });
  const states: CommitState[] = ["pending", "success", "failure", "canceled"];
  for (const state of states)
    await hosts.setCommitStatus(accessTo(kind, server.url), "acme/site", { ...STATUS, state });
  expect(server.told.map(({ path, authorization, status }) => [path, authorization, status])).toEqual(
    states.map(() => [host.path, "Bearer token", 201]),
  );
  expect(new Set(server.told.map(({ body }) => body["state"])).size).toBe(states.length);
  for (const { body } of server.told) expect(Object.values(body)).toEqual(expect.arrayContaining([STATUS.description]));
});

test.each(KINDS)("%s may be told twice, without a URL too", async (kind, host) => {
  await using server = await startHost(host);
  const hosts = new CheckedGitHosts({ networks: ["127.0.0.1"] });
  for (let time = 0; time < 2; time++)
    await hosts.setCommitStatus(accessTo(kind, server.url), "acme/site", { ...STATUS, url: null });
  expect(server.told).toHaveLength(2);
});

test.each(KINDS)("%s that refuses a status is an error", async (kind, host) => {
  await using server = await startHost({ ...host, respond: () => ({ status: 403 }) });
  const hosts = new CheckedGitHosts({ networks: ["127.0.0.1"] });
  const told = hosts.setCommitStatus(accessTo(kind, server.url), "acme/site", STATUS);
  await expect(told).rejects.toMatchObject({ name: "GitHostError", problem: "refused" });
});
