import { expect, test } from "vitest";
import { normalizeRepository, readRepositoryUrl } from "../../../domain/apps/repository-url.ts";

const GITHUB = "https://github.com";
const OWN = "https://user:pass@git.example.com:8443/scm";
const LOCAL = "file:///srv/git";

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
  expect(readRepositoryUrl(text, { gitBaseUrl })).toEqual({ repo: "acme/site", tree: [] });
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
  expect(readRepositoryUrl(text, { gitBaseUrl: GITHUB })).toBeNull();
});

const GITHUB_ADVICE =
  "This service deploys from github.com. Pass owner/name, or a URL such as https://github.com/acme/site.";

test.each([
  [GITHUB, "https://gitlab.com/acme/site", `repo: is a URL of another git host. ${GITHUB_ADVICE}`],
  [GITHUB, "https://github.com.evil.example/acme/site", "repo: is a URL of another git host."],
  [GITHUB, "https://github.com@evil.example/acme/site", "repo: is a URL of another git host."],
  [GITHUB, "https://github.com:444/acme/site", "repo: is a URL of another git host."],
  [GITHUB, "git@gitlab.com:acme/site.git", "repo: is a URL of another git host."],
  [GITHUB, "gitlab.com/acme/site", "repo: is a URL of another git host."],
  [GITHUB, "file:///etc/passwd", "repo: is a URL of another git host."],
  [GITHUB, "https://github.com/acme", `repo: is a URL of neither a repository nor a folder in one. ${GITHUB_ADVICE}`],
  [GITHUB, "https://github.com/", "neither a repository nor a folder"],
  [GITHUB, "https://github.com/acme/site/pull/3", "neither a repository nor a folder"],
  [GITHUB, "https://github.com/acme/site/blob/main/README.md", "neither a repository nor a folder"],
  [GITHUB, "https://github.com/acme/site/src/commit/0a1b2c", "neither a repository nor a folder"],
  [OWN, "https://git.example.com:8443/acme/site", "such as https://git.example.com:8443/scm/acme/site."],
  [LOCAL, "https://github.com/acme/site", "deploys from a local folder. Pass owner/name, such as acme/site."],
])("with repositories at %s, %j is rejected, and the error says what is valid", (gitBaseUrl, text, reason) => {
  const read = () => readRepositoryUrl(text, { gitBaseUrl });
  expect(read).toThrow(expect.objectContaining({ code: "invalid", message: expect.stringContaining(reason) }));
  expect(read).not.toThrow(/pass@|\/srv|evil|passwd/);
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
  [{ repo: at("-/tree/main/apps") }, { branch: "main", root_directory: "apps" }],
  [{ repo: at("src/branch/main/apps") }, { branch: "main", root_directory: "apps" }],
  [{ repo: at("src/main/apps") }, { branch: "main", root_directory: "apps" }],
  [
    { repo: at(""), branch: "next", root_directory: "web" },
    { branch: "next", root_directory: "web" },
  ],
])("%j names the branch and the folder of its URL", (input, expected) => {
  const normalized = normalizeRepository({ gitBaseUrl: GITHUB }, input, "root_directory");
  expect(normalized).toEqual({ repo: "acme/site", ...expected });
});

test("fields that contradict the URL are rejected", () => {
  const normalize = (input: object) => () => normalizeRepository({ gitBaseUrl: GITHUB }, input, "path");
  expect(normalize({ repo: at("tree/main/apps"), branch: "next" })).toThrow(
    "branch: the URL in repo contains another branch",
  );
  expect(normalize({ repo: at("tree/main/apps"), path: "web" })).toThrow(
    "path: the URL in repo contains another folder",
  );
});

test("an input without a URL stays as it is, also one that is not valid", () => {
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
    expect(normalizeRepository({ gitBaseUrl: GITHUB }, input, "path")).toBe(input);
});
