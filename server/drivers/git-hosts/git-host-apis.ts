import type {
  CommitState,
  CommitStatus,
  GitHostKind,
  HostedBranch,
  HostedPage,
  HostedRepository,
} from "../../../domain/ports/git-hosts.ts";

/** What a host responds: the body as JSON, and the number of the next page if a header names it. */
export interface ApiResponse {
  body: unknown;
  nextPage: number | null;
}

/** The API of one kind of host. Paths are relative to its root. */
export interface GitHostApi {
  /** @param url - below which the host has its repositories */
  root(url: URL): string;
  /** Whether it can search in the repositories of the credential by a part of the name. */
  searches: boolean;
  /** A path that every valid credential can read. */
  account: string;
  repositories(query: string, page: number): string;
  branches(repo: string, page: number): string;
  readRepositories(response: ApiResponse, page: number): HostedPage<HostedRepository>;
  readBranches(response: ApiResponse, page: number): HostedPage<HostedBranch>;
  commitStatus(repo: string, status: CommitStatus): ApiRequest;
}

/** A request that changes something. */
export interface ApiRequest {
  path: string;
  body: Readonly<Record<string, string>>;
}

const PAGE_SIZE = 50;

type Fields = Readonly<Record<string, unknown>>;

const github: GitHostApi = {
  // GitHub.com, GitHub Enterprise Cloud with data residency, and GitHub Enterprise Server.
  root: ({ origin, host }) =>
    host === "github.com" || host.endsWith(".ghe.com") ? `https://api.${host}` : `${origin}/api/v3`,
  // GitHub searches in the repositories of everybody only.
  searches: false,
  account: "/user",
  repositories: (_query, page) => `/user/repos?${search({ sort: "pushed", per_page: PAGE_SIZE, page })}`,
  branches: (repo, page) => `/repos/${repo}/branches?${search({ per_page: PAGE_SIZE, page })}`,
  readRepositories: ({ body }, page) => readGitHubRepositories(body, page),
  readBranches: (response, page) =>
    toPage(response.body, page, (each) => ({ name: text(each["name"]), commit: text(fields(each["commit"])["sha"]) })),
  commitStatus: (repo, status) => ({
    path: `/repos/${repo}/statuses/${status.commit}`,
    body: withUrl("target_url", status, { state: STATES[status.state], context: status.context }),
  }),
};

function readGitHubRepositories(body: unknown, page: number): HostedPage<HostedRepository> {
  return toPage(body, page, (each) => ({
    repo: text(each["full_name"]),
    default_branch: textOrNull(each["default_branch"]),
    is_private: each["private"] === true,
    pushed_at: textOrNull(each["pushed_at"]),
  }));
}

/** The token of an installation is of no user. It reads the repositories that the account has chosen for the app. */
const githubApp: GitHostApi = {
  ...github,
  account: "/installation/repositories?per_page=1",
  repositories: (_query, page) => `/installation/repositories?${search({ per_page: PAGE_SIZE, page })}`,
  readRepositories: ({ body }, page) => readGitHubRepositories(fields(body)["repositories"], page),
};

const gitlab: GitHostApi = {
  root: ({ href }) => `${href.replace(/\/+$/, "")}/api/v4`,
  searches: true,
  account: "/user",
  repositories: (query, page) =>
    `/projects?${search({ membership: "true", order_by: "last_activity_at", search: query, per_page: PAGE_SIZE, page })}`,
  branches: (repo, page) =>
    `/projects/${encodeURIComponent(repo)}/repository/branches?${search({ per_page: PAGE_SIZE, page })}`,
  readRepositories: ({ body, nextPage }) => ({
    items: list(body).map((each) => ({
      repo: text(each["path_with_namespace"]),
      default_branch: textOrNull(each["default_branch"]),
      is_private: each["visibility"] !== "public",
      pushed_at: textOrNull(each["last_activity_at"]),
    })),
    nextPage,
  }),
  readBranches: ({ body, nextPage }) => ({
    items: list(body).map((each) => ({ name: text(each["name"]), commit: text(fields(each["commit"])["id"]) })),
    nextPage,
  }),
  commitStatus: (repo, status) => ({
    path: `/projects/${encodeURIComponent(repo)}/statuses/${status.commit}`,
    body: withUrl("target_url", status, { state: GITLAB_STATES[status.state], name: status.context }),
  }),
};

const gitea: GitHostApi = {
  root: ({ href }) => `${href.replace(/\/+$/, "")}/api/v1`,
  searches: true,
  account: "/user",
  repositories: (query, page) =>
    `/repos/search?${search({ q: query, sort: "updated", order: "desc", limit: PAGE_SIZE, page })}`,
  branches: (repo, page) => `/repos/${repo}/branches?${search({ limit: PAGE_SIZE, page })}`,
  readRepositories: ({ body }, page) =>
    toPage(fields(body)["data"], page, (each) => ({
      repo: text(each["full_name"]),
      default_branch: textOrNull(each["default_branch"]),
      is_private: each["private"] === true,
      pushed_at: textOrNull(each["updated_at"]),
    })),
  readBranches: ({ body }, page) =>
    toPage(body, page, (each) => ({ name: text(each["name"]), commit: text(fields(each["commit"])["id"]) })),
  commitStatus: github.commitStatus,
};

const bitbucket: GitHostApi = {
  root: ({ origin, host }) => (host === "bitbucket.org" ? "https://api.bitbucket.org/2.0" : `${origin}/2.0`),
  searches: true,
  account: "/user",
  repositories: (query, page) => {
    const filter = query === "" ? "" : `&${search({ q: `name ~ ${JSON.stringify(query)}` })}`;
    return `/repositories?${search({ role: "member", sort: "-updated_on", pagelen: PAGE_SIZE, page })}${filter}`;
  },
  branches: (repo, page) => `/repositories/${repo}/refs/branches?${search({ pagelen: PAGE_SIZE, page })}`,
  readRepositories: ({ body }, page) => ({
    items: list(fields(body)["values"]).map((each) => ({
      repo: text(each["full_name"]),
      default_branch: textOrNull(fields(each["mainbranch"])["name"]),
      is_private: each["is_private"] === true,
      pushed_at: textOrNull(each["updated_on"]),
    })),
    nextPage: nextOf(body, page),
  }),
  readBranches: ({ body }, page) => ({
    items: list(fields(body)["values"]).map((each) => ({
      name: text(each["name"]),
      commit: text(fields(each["target"])["hash"]),
    })),
    nextPage: nextOf(body, page),
  }),
  commitStatus: (repo, status) => ({
    path: `/repositories/${repo}/commit/${status.commit}/statuses/build`,
    // The URL is required, and the key must be short.
    body: withUrl(
      "url",
      { ...status, url: status.url ?? "https://bitbucket.org" },
      { state: BITBUCKET_STATES[status.state], key: shorten(status.context) },
    ),
  }),
};

/** Sources: the REST references of GitHub, GitLab (v4), Gitea (v1) and Bitbucket Cloud (2.0). */
export const GIT_HOST_APIS: Record<Exclude<GitHostKind, "git">, GitHostApi> = {
  github,
  github_app: githubApp,
  gitlab,
  gitea,
  bitbucket,
};

/** GitHub has no state for a canceled deployment. */
const STATES = {
  pending: "pending",
  success: "success",
  failure: "failure",
  canceled: "error",
} as const satisfies Record<CommitState, string>;
const GITLAB_STATES = { ...STATES, failure: "failed", canceled: "canceled" } as const;
const BITBUCKET_STATES = {
  pending: "INPROGRESS",
  success: "SUCCESSFUL",
  failure: "FAILED",
  canceled: "STOPPED",
} as const;

const MAX_KEY_LENGTH = 40;

function shorten(key: string): string {
  return key.slice(0, MAX_KEY_LENGTH);
}

function withUrl(
  name: string,
  { description, url }: CommitStatus,
  body: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...body, description, ...(url !== null && { [name]: url }) };
}

/** A full page can have a next one. */
function toPage<Item>(body: unknown, page: number, read: (each: Fields) => Item): HostedPage<Item> {
  const items = list(body);
  return { items: items.map(read), nextPage: items.length < PAGE_SIZE ? null : page + 1 };
}

function nextOf(body: unknown, page: number): number | null {
  return fields(body)["next"] === undefined ? null : page + 1;
}

function search(parameters: Record<string, string | number>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) query.set(name, `${value}`);
  return query.toString();
}

function list(value: unknown): Fields[] {
  if (!Array.isArray(value)) throw new Error("The host did not respond with a list");
  return value.map(fields);
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function text(value: unknown): string {
  if (typeof value !== "string") throw new Error("The host did not respond with a text");
  return value.slice(0, 500);
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value.slice(0, 500) : null;
}
