import { ServiceError } from "../shared/errors.ts";

const MAX_OWNER_LENGTH = 39;
const MAX_NAME_LENGTH = 100;
const MAX_BRANCH_BYTES = 255;

/** A check that finds a violation, and the rule in words that follow "repo:" or "branch:". */
type Rule = readonly [isViolated: (text: string) => boolean, rule: string];

/** The first violated rule is the one that the error states. */
const REPO_RULES: readonly Rule[] = [
  [
    (repo) => !/^[a-zA-Z0-9_.-]+\/[a-zA-Z0-9_.-]+$/.test(repo),
    "must have the form owner/name, of letters, digits, `_`, `.` and `-`",
  ],
  [(repo) => owner(repo).length > MAX_OWNER_LENGTH, `must have an owner of at most ${MAX_OWNER_LENGTH} characters`],
  [(repo) => name(repo).length > MAX_NAME_LENGTH, `must have a name of at most ${MAX_NAME_LENGTH} characters`],
  [(repo) => parts(repo).some((part) => part.startsWith("-")), "must not have an owner or name that starts with `-`"],
  [
    (repo) => parts(repo).some((part) => part === "." || part === ".."),
    "must not have an owner or name that consists of dots",
  ],
  [(repo) => name(repo).toLowerCase().endsWith(".git"), "must not have a name that ends with `.git`"],
];

/**
 * The rules of `git check-ref-format`, and further ones for names that git would accept, but that other programs read as
 * options, expressions or shell text, or that are displayed as a different name. Letters of every script are allowed.
 */
const BRANCH_RULES: readonly Rule[] = [
  [(branch) => branch.trim() === "", "must not be empty"],
  [(branch) => Buffer.byteLength(branch) > MAX_BRANCH_BYTES, `must have at most ${MAX_BRANCH_BYTES} bytes`],
  [(branch) => !branch.isWellFormed(), "must be well-formed Unicode"],
  [(branch) => /[\p{Cc}\p{Z}]/u.test(branch), "must not contain spaces or control characters"],
  // Zero-width characters and those that reverse the direction make two different branches look the same.
  [(branch) => /\p{Cf}/u.test(branch), "must not contain invisible characters"],
  [(branch) => /[~^:?*[\\]/.test(branch), "must not contain any of the characters ~ ^ : ? * [ \\"],
  [(branch) => /[;|&$<>`'"]/.test(branch), "must not contain any of the characters ; | & $ < > ` ' \""],
  [(branch) => branch.includes(".."), "must not contain two dots in a row"],
  [
    (branch) => branch.includes("@{") || branch === "@" || branch === "HEAD",
    "must be a name, not an expression such as HEAD or @{-1}",
  ],
  [(branch) => branch.startsWith("-"), "must not start with `-`"],
  [(branch) => branch.startsWith("refs/"), "must be given without `refs/heads/`"],
  [(branch) => branch.split("/").includes(""), "must not start or end with `/`, or contain two of them in a row"],
  [(branch) => branch.split("/").some((part) => part.startsWith(".")), "must not have a part that starts with a dot"],
  [(branch) => branch.split("/").some((part) => part.endsWith(".lock")), "must not have a part that ends with `.lock`"],
  [(branch) => branch.endsWith("."), "must not end with a dot"],
];

/**
 * @param repo - `owner/name` as at the git host
 * @throws {ServiceError} `invalid`
 */
export function checkRepo(repo: string): void {
  const violated = REPO_RULES.find(([isViolated]) => isViolated(repo));
  if (violated) throw new ServiceError("invalid", `repo: ${violated[1]}. Example: "acme/shop".`);
}

/** @throws {ServiceError} `invalid` */
export function checkBranch(branch: string): void {
  const violated = BRANCH_RULES.find(([isViolated]) => isViolated(branch));
  if (violated) throw new ServiceError("invalid", `branch: ${violated[1]}. Examples: "main", "feature/cart".`);
}

function parts(repo: string): string[] {
  return repo.split("/");
}

function owner(repo: string): string {
  return parts(repo)[0] ?? "";
}

function name(repo: string): string {
  return parts(repo)[1] ?? "";
}
