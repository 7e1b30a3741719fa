import { BuildFailure } from "../../../domain/shared/errors.ts";
import { type CheckoutCaps, type CheckoutRefusal, describeRefusal } from "./checkout-limits.ts";

/** What `inside/checkout.mjs` leaves behind. */
export type CheckoutReport =
  | { outcome: "done"; commit: string }
  | { outcome: "not-fetched" | "not-written"; error: string }
  | { outcome: "refused"; reason: CheckoutRefusal };

/** One text for both, so that nobody learns from it which private repositories there are. */
export function unreadable(): BuildFailure {
  return new BuildFailure(
    "user",
    "The repository does not exist, or the service may not read it.",
    "Check the spelling of `repo` (owner/name) and that the repository is public, then deploy again.",
  );
}

export function refused(reason: CheckoutRefusal, caps: CheckoutCaps): BuildFailure {
  const advice = "Remove from the branch what the app does not need (build output, media, data), then deploy again.";
  return new BuildFailure("user", describeRefusal(reason, caps), advice);
}

export function unfit(): BuildFailure {
  return new BuildFailure(
    "user",
    "The files of the branch could not be written.",
    "The build log says which file is the reason. Names such as `.git`, in any case, are not allowed; remove it, then deploy again.",
  );
}

export function unavailable(cause: string): BuildFailure {
  return new BuildFailure(
    "platform",
    "The git host did not answer as expected.",
    "Nothing is wrong with your app. Try again in a few minutes.",
    { cause },
  );
}

/**
 * @param error - the end of what `git fetch` printed, in English. The git host can make it say anything, which is why
 *   it decides about nothing but the words of a failure.
 */
export function notFetched(error: string, branch: string): BuildFailure {
  if (error.includes("couldn't find remote ref")) return absentBranch(branch);
  if (/returned error: 30\d|from redirection/.test(error)) return moved();
  const hidden =
    /not found|could not read Username|Authentication failed|returned error: 40[134]|not appear to be a git/;
  return hidden.test(error) ? unreadable() : unavailable(error);
}

function absentBranch(branch: string): BuildFailure {
  return new BuildFailure(
    "user",
    `The repository has no branch "${branch}".`,
    "Name one of its branches as `branch`, or push this one first, then deploy again.",
  );
}

function moved(): BuildFailure {
  return new BuildFailure(
    "user",
    "The git host redirects to another address, which is not followed.",
    "The repository may have been renamed: deploy it under its present owner/name.",
  );
}
