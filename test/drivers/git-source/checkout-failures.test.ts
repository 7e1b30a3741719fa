import { expect, test } from "vitest";
import { describeFetchError } from "../../../server/drivers/git-source/checkout-failures.ts";

const commit = "587be6b4c3f93f93c489c0111bba5596147a26cb";
const checkout = {
  repo: "acme/shop",
  branch: "main",
  commit,
  directory: "/source",
  onOutput: () => {},
  signal: new AbortController().signal,
};

test.each([
  ["git", `fatal: remote error: upload-pack: not our ref ${commit}`],
  ["JGit", `fatal: remote error: want ${commit} not valid`],
  ["a host with an older protocol", `error: Server does not allow request for unadvertised object ${commit}`],
  ["a repository with ids of another length", `fatal: couldn't find remote ref ${commit}`],
  [
    "a tag",
    `error: cannot update ref 'refs/heads/tip': trying to write non-commit object ${commit} to branch 'refs/heads/tip'`,
  ],
])("the error of %s about an unknown commit is an error of the user that names the commit", (_host, error) => {
  expect(describeFetchError(error, checkout)).toMatchObject({ kind: "user", message: expect.stringContaining(commit) });
});

test("a private repository is reported as such when the request names a commit", () => {
  const error = "fatal: could not read Username for 'https://git.example': terminal prompts disabled";
  expect(describeFetchError(error, checkout).message).toBe(
    "The repository does not exist, or the service cannot read it.",
  );
});
