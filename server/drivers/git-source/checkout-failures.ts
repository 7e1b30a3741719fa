import { type Checkout, REPOSITORY_NOT_READABLE } from "../../../domain/ports/git-source.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { type CheckoutLimits, type CheckoutViolation, describeViolation } from "./checkout-limits.ts";

export function repositoryNotReadable(): BuildFailure {
  return new BuildFailure(
    "user",
    REPOSITORY_NOT_READABLE,
    "Check the spelling of `repo` (owner/name). For a private repository, connect its git host with a token that can read it. Then deploy again.",
  );
}

export function limitExceeded(violation: CheckoutViolation, limits: CheckoutLimits): BuildFailure {
  return new BuildFailure(
    "user",
    describeViolation(violation, limits),
    "Remove files that the app does not need from the branch (build output, media, data), then deploy again.",
  );
}

export function filesNotWritable(): BuildFailure {
  return new BuildFailure(
    "user",
    "The files of the branch could not be written.",
    "The build log names the file. Names such as `.git` are not allowed, in upper or lower case. Remove the file, then deploy again.",
  );
}

export function gitHostUnavailable(cause: string): BuildFailure {
  return new BuildFailure(
    "platform",
    "The git host did not respond as expected.",
    "Your app is not the cause. Deploy again in a few minutes.",
    { cause },
  );
}

/**
 * What git prints when the host has no object with the id of a commit (git, JGit), when it serves only the tips of branches
 * (an older protocol), when the object is a tag or a file, and when the repository has ids of another length.
 */
const UNKNOWN_COMMIT =
  /not our ref|want [0-9a-f]+ not valid|unadvertised object|non-commit object|couldn't find remote ref/;

/**
 * Derives the failure from the output of `git fetch`.
 *
 * @param error - the end of git's output, in English. The git host can influence this text, so it decides only which
 *   message the owner sees.
 */
export function describeFetchError(error: string, { branch, commit }: Checkout): BuildFailure {
  if (commit && UNKNOWN_COMMIT.test(error)) return commitNotFound(commit);
  if (error.includes("couldn't find remote ref")) return branchNotFound(branch);
  if (/returned error: 30\d|from redirection/.test(error)) return redirected();
  const hidden =
    /not found|could not read Username|Authentication failed|returned error: 40[134]|not appear to be a git/;
  return hidden.test(error) ? repositoryNotReadable() : gitHostUnavailable(error);
}

function branchNotFound(branch: string): BuildFailure {
  return new BuildFailure(
    "user",
    `The repository has no branch "${branch}".`,
    "Set `branch` to an existing branch, or push this one, then deploy again.",
  );
}

function commitNotFound(commit: string): BuildFailure {
  return new BuildFailure(
    "user",
    `The repository has no commit ${commit}, or the git host does not serve it.`,
    "Set `commit` to the full id of a pushed commit, or omit it to deploy the newest one of the branch.",
  );
}

function redirected(): BuildFailure {
  return new BuildFailure(
    "user",
    "The git host redirected the request to another address. Redirects are not followed.",
    "If the repository was renamed or moved, deploy it with its current owner/name.",
  );
}
