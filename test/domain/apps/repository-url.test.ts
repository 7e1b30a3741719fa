import { expect, test } from "vitest";
import {
  normalizeRepository,
  readRepositoryUrl,
  replaceUrl,
  type RepositoryUrlDeps,
} from "../../../domain/apps/repository-url.ts";

const GITHUB = "https://github.com";
const OWN = "https://user:pass@git.example.com:8443/scm";
const LOCAL = "file:///srv/git";

const ownHost = (own: string) => ({ own, connected: [] });

test.each([
  [GITHUB, "https://github.com/acme/site"],
  [GITHUB, "http://github.com/acme/site"],
  [GITHUB, "https://github.com/acme/site/"],
  [GITHUB, "https://github.com/acme/site.git"],
  [GITHUB, "https://github.com/acme/site.git/"],
  [GITHUB, " https://www.GitHub.com./acme/site?tab=readme#usage\n"],
  [GITHUB, "https://ada:ghp_token@github.com/acme/site"],
  [GITHUB, "git+https://github.com/acme/site.git"],
  [GITHUB, "github.com/acme/site"],
  [GITHUB, "www.github.com/acme/site/"],
  [GITHUB, "git@github.com:acme/site.git"],
  [GITHUB, "github.com:acme/site"],
  [GITHUB, "git@github.com:/acme/site.git#readme"],
  [GITHUB, "ssh://git@github.com/acme/site.git"],
  [GITHUB, "ssh://git@github.com:22/acme/site.git"],
  [GITHUB, "git://github.com/acme/site.git"],
  [GITHUB, "https://github.com/acme/site/tree/"],
  [OWN, "https://git.example.com:8443/scm/acme/site.git"],
  [OWN, "git.example.com:8443/scm/acme/site"],
  [OWN, "ssh://git@git.example.com:2222/acme/site.git"],
  [OWN, "git@git.example.com:scm/acme/site.git"],
  ["http://localhost:8080", "localhost:8080/acme/site"],
  [LOCAL, "file:///srv/git/acme/site.git"],
])("with repositories at %s, %j is acme/site", (gitBaseUrl, text) => {
  const host = new URL(gitBaseUrl).host || null;
  expect(readRepositoryUrl(text, ownHost(gitBaseUrl))).toEqual({ repo: "acme/site", host, tree: [] });
});

test.each([
  "acme/site",
  "acme/site.git",
  "github.com/acme",
  "acme",
  "",
  "acme/site/src",
  "/srv/git/acme/site",
  "../..",
  "https://",
])("%j is no URL", (text) => {
  expect(readRepositoryUrl(text, ownHost(GITHUB))).toBeNull();
});

const notConnected = (host: string) =>
  `repo: the organization has no git connection to ${host}. An administrator connects it with POST /v1/git-connections, or in the dashboard (Git connections).`;

const GITHUB_ADVICE =
  "This service deploys from github.com. Pass owner/name, or a URL such as https://github.com/acme/site.";

test.each([
  [GITHUB, "https://gitlab.com/acme/site", `${notConnected("gitlab.com")} ${GITHUB_ADVICE}`],
  [GITHUB, "https://github.com.other.example/acme/site", notConnected("github.com.other.example")],
  [GITHUB, "https://github.com@other.example/acme/site", notConnected("other.example")],
  [GITHUB, "https://ada:pass@other.example/acme/site", notConnected("other.example")],
  [GITHUB, "https://github.com:444/acme/site", notConnected("github.com")],
  [GITHUB, "git@gitlab.com:acme/site.git", notConnected("gitlab.com")],
  [GITHUB, "gitlab.com/acme/site", notConnected("gitlab.com")],
  [GITHUB, "git@<b>:acme/site", "repo: is a URL of another git host."],
  [GITHUB, "file:///etc/passwd", "repo: is a URL of another git host."],
  [GITHUB, "https://github.com/acme", `repo: is a URL of neither a repository nor a folder in one. ${GITHUB_ADVICE}`],
  [GITHUB, "https://github.com/", "neither a repository nor a folder"],
  [GITHUB, "https://github.com/acme/site/pull/3", "neither a repository nor a folder"],
  [GITHUB, "https://github.com/acme/site/blob/main/README.md", "neither a repository nor a folder"],
  [GITHUB, "https://github.com/acme/site/src/commit/0a1b2c", "neither a repository nor a folder"],
  [OWN, "https://git.example.com:8443/acme/site", "such as https://git.example.com:8443/scm/acme/site."],
  [LOCAL, "https://github.com/acme/site", "deploys from a local folder. Pass owner/name, such as acme/site."],
])("with repositories at %s, %j is rejected, and the error says what is valid", (gitBaseUrl, text, reason) => {
  const read = () => readRepositoryUrl(text, ownHost(gitBaseUrl));
  expect(read).toThrow(expect.objectContaining({ code: "invalid", message: expect.stringContaining(reason) }));
  expect(read).not.toThrow(/pass@|\/srv|passwd/);
});

const at = (path: string) => `https://github.com/acme/site/${path}`;

test.each([
  [{ repo: at("") }, {}],
  [{ repo: at("tree/main") }, { branch: "main" }],
  [{ repo: at("tree/main/") }, { branch: "main" }],
  [{ repo: at("tree/main/apps/web?tab=1#x") }, { branch: "main", root_directory: "apps/web" }],
  [{ repo: at("tree/main/my%20app") }, { branch: "main", root_directory: "my app" }],
  [{ repo: at("tree/feature%2Fcart/apps") }, { branch: "feature/cart", root_directory: "apps" }],
  [
    { repo: at("tree/feature/cart/apps"), branch: "feature/cart" },
    { branch: "feature/cart", root_directory: "apps" },
  ],
  [
    { repo: at("tree/main/apps"), branch: "", root_directory: "./apps/" },
    { branch: "main", root_directory: "apps" },
  ],
  [
    { repo: at("tree/feature%2Fcart/apps"), branch: "feature/cart" },
    { branch: "feature/cart", root_directory: "apps" },
  ],
  [
    { repo: at("tree/main/apps"), root_directory: "" },
    { branch: "main", root_directory: "apps" },
  ],
  [{ repo: at("-/tree/main/apps") }, { branch: "main", root_directory: "apps" }],
  [{ repo: at("src/branch/main/apps") }, { branch: "main", root_directory: "apps" }],
  [{ repo: at("src/main/apps") }, { branch: "main", root_directory: "apps" }],
  [
    { repo: at(""), branch: "next", root_directory: "web" },
    { branch: "next", root_directory: "web" },
  ],
])("%j names the branch and the folder of its URL", (input, expected) => {
  const normalized = replaceUrl(input, ownHost(GITHUB), "root_directory");
  expect(normalized).toEqual({ repo: "acme/site", host: "github.com", ...expected });
});

const GITLAB = "https://gitlab.example.com:8443/code";
const CONNECTED = { own: GITHUB, connected: [GITLAB, "https://gitea.example.com"] };

test.each([
  ["https://gitlab.example.com:8443/code/acme/site", "gitlab.example.com:8443", {}],
  ["https://gitlab.example.com:8443/code/acme/site/-/tree/main/web", "gitlab.example.com:8443", { web: true }],
  ["ssh://git@gitlab.example.com/acme/site.git", "gitlab.example.com:8443", {}],
  ["git@gitea.example.com:acme/site.git", "gitea.example.com", {}],
  ["https://gitea.example.com/acme/site/src/branch/main/web", "gitea.example.com", { web: true }],
  ["https://github.com/acme/site/tree/main/web", "github.com", { web: true }],
])("%j is a repository of a connected host", (repo, host, { web = false }: { web?: boolean }) => {
  expect(replaceUrl({ repo }, CONNECTED, "path")).toEqual({
    repo: "acme/site",
    host,
    ...(web && { branch: "main", path: "web" }),
  });
});

test("of two connections to one host, the one with the longer path has the repository", () => {
  const hosts = { own: "https://git.example.com", connected: ["https://git.example.com/code"] };
  const repo = "https://git.example.com/code/acme/site";
  expect(replaceUrl({ repo }, hosts, "path")).toEqual({ repo: "acme/site", host: "git.example.com" });
});

test("fields that contradict the URL are rejected", () => {
  const replace = (input: { repo: string; [field: string]: string }) => () =>
    replaceUrl(input, ownHost(GITHUB), "path");
  expect(replace({ repo: at("tree/main/apps"), branch: "next" })).toThrow(
    "branch: the URL in repo contains another branch",
  );
  expect(replace({ repo: at("tree/main/apps"), path: "web" })).toThrow("path: the URL in repo contains another folder");
  expect(replace({ repo: at(""), host: "gitlab.com" })).toThrow("host: the URL in repo contains another host");
  expect(replace({ repo: at(""), host: "github.com" })()).toEqual({ repo: "acme/site", host: "github.com" });
});

test("an input without a URL stays as it is, also one that is not valid", async () => {
  const deps = { gitBaseUrl: GITHUB } as RepositoryUrlDeps;
  for (const input of [
    undefined,
    null,
    7,
    "x",
    [],
    {},
    { repo: 7 },
    { repo: "acme/site", branch: 7 },
    { repo: "site" },
  ])
    expect(await normalizeRepository(deps, "an organization", input, "path")).toBe(input);
});

test("a text of megabytes is no URL, and is not matched against patterns that would take long", () => {
  for (const text of ["a.".repeat(2_000_000), `https://github.com/acme/${"a".repeat(2_000_000)}`])
    expect(readRepositoryUrl(text, ownHost(GITHUB))).toBeNull();
});
