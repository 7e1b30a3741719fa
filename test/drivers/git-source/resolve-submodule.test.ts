import { expect, test } from "vitest";
import { resolveSubmodule } from "../../../server/drivers/git-source/resolve-submodule.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const GITHUB = new URL("https://github.com");
const FORGE = new URL("https://git.example.com:8443/repos/");

test.each([
  ["../theme", "acme/theme"],
  ["../theme.git/", "acme/theme"],
  ["../../other/theme.git", "other/theme"],
  ["./../theme", "acme/theme"],
  ["https://github.com/other/theme", "other/theme"],
  ["https://www.github.com/other/theme.git", "other/theme"],
  ["http://github.com/other/theme", "other/theme"],
  ["https://user:secret@github.com/other/theme", "other/theme"],
  ["git://github.com/other/theme.git", "other/theme"],
  ["git@github.com:other/theme.git", "other/theme"],
  ["ssh://git@github.com:22/other/theme.git", "other/theme"],
])("the URL %s of a submodule names a repository of the git host", (url, repo) => {
  expect(resolveSubmodule(url, GITHUB, "acme/shop")).toBe(repo);
});

test("the path of the base URL precedes owner/name, except with SSH", () => {
  for (const url of [
    "https://git.example.com:8443/repos/other/theme",
    "git@git.example.com:other/theme.git",
    "ssh://git@git.example.com/repos/other/theme",
    "../../other/theme",
  ])
    expect(resolveSubmodule(url, FORGE, "acme/shop")).toBe("other/theme");
  for (const url of [
    "https://git.example.com:8443/other/theme",
    "https://git.example.com/repos/other/theme",
    "https://git.example.com:8443/repositories/other/theme",
  ])
    expect(resolveSubmodule(url, FORGE, "acme/shop")).toBeNull();
});

verifies(hazard(14), "a URL of a submodule that names another host, or no repository, is refused", () => {
  const urls = [
    "https://gitlab.com/other/theme",
    "https://github.com.example.com/other/theme",
    "https://github.com@example.com/other/theme",
    "git@gitlab.com:other/theme",
    "ext::sh -c touch% /tmp/ran",
    "file:///etc",
    "/etc/passwd",
    "other/theme",
    "-u@github.com:other/theme",
    "--upload-pack=touch",
    "ssh://-oProxyCommand=touch@github.com:other/theme/x",
    "https://github.com/other",
    "https://github.com/other/theme/more",
    "https://github.com/-other/theme",
    "https://github.com/other/-theme",
    "https://github.com/other/%2e%2e",
    "https://github.com/other/theme?x",
    "https://github.com:444/other/theme",
    "../theme\r",
    "../the me",
    "../../../github.com/other/theme",
    "../../../../other/theme",
    "../..",
    "./theme",
    "",
    `../${"x".repeat(3000)}`,
  ];
  for (const url of urls) expect([url, resolveSubmodule(url, GITHUB, "acme/shop")]).toEqual([url, null]);
  for (const url of ["https://github.com/a/b", "file:///srv/a/b"])
    expect(resolveSubmodule(url, new URL("file:///srv"), "acme/shop")).toBeNull();
  expect(resolveSubmodule("../theme", new URL("file:///srv"), "acme/shop")).toBe("acme/theme");
});
