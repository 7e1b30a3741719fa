import { expect, test } from "vitest";
import { GIT_HOST_APIS } from "../../../server/drivers/git-hosts/git-host-apis.ts";

test.each([
  ["github", "https://github.com", "https://api.github.com"],
  ["github", "https://acme.ghe.com", "https://api.acme.ghe.com"],
  ["github", "https://ghe.com.example.com", "https://ghe.com.example.com/api/v3"],
  ["github_app", "https://github.com", "https://api.github.com"],
  ["github_app", "https://github.example.com:8443", "https://github.example.com:8443/api/v3"],
  ["gitlab", "https://git.example.com/code", "https://git.example.com/code/api/v4"],
  ["gitea", "https://git.example.com/code/", "https://git.example.com/code/api/v1"],
  ["bitbucket", "https://bitbucket.org", "https://api.bitbucket.org/2.0"],
] as const)("the API of the kind %s at %s is at %s", (kind, url, root) => {
  expect(GIT_HOST_APIS[kind].root(new URL(url))).toBe(root);
});

test("a page of an installation has its repositories, and a full page has a next one", () => {
  const repository = { full_name: "acme/site", default_branch: "main", private: true, pushed_at: null };
  const read = (count: number) => {
    const body = { total_count: count, repositories: Array.from({ length: count }, () => repository) };
    return GIT_HOST_APIS.github_app.readRepositories({ body, nextPage: null }, 1);
  };
  expect(read(1)).toEqual({
    items: [{ repo: "acme/site", default_branch: "main", is_private: true, pushed_at: null }],
    nextPage: null,
  });
  expect(read(50).nextPage).toBe(2);
});
