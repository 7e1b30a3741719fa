import { ServiceError } from "../shared/errors.ts";

const MAX_OWNER_LENGTH = 39;
const MAX_NAME_LENGTH = 100;
const MAX_BRANCH_BYTES = 255;

/** What makes a text no repository, in the order in which it is told. */
const REPO_RULES: readonly Rule[] = [
  [
    (repo) => !/^[a-zA-Z0-9_.-]+\/[a-zA-Z0-9_.-]+$/.test(repo),
    "has the form owner/name, of letters, digits, `_`, `.` and `-`",
  ],
  [(repo) => ownerOf(repo).length > MAX_OWNER_LENGTH, `has an owner of at most ${MAX_OWNER_LENGTH} characters`],
  [(repo) => nameOf(repo).length > MAX_NAME_LENGTH, `has a name of at most ${MAX_NAME_LENGTH} characters`],
  [(repo) => partsOf(repo).some((part) => part.startsWith("-")), "has no owner or name that starts with `-`"],
  [(repo) => partsOf(repo).some((part) => part === "." || part === ".."), "has no owner or name of dots alone"],
  [(repo) => nameOf(repo).toLowerCase().endsWith(".git"), "has a name without `.git` at its end"],
];

/**
 * What makes a text no branch: the rules of `git check-ref-format`, and some of our own for names that git would
 * take, but that are options, expressions or shell text to other programs, or that show as something they are not.
 * Letters of every script are allowed.
 */
const BRANCH_RULES: readonly Rule[] = [
  [(branch) => branch.trim() === "", "is not empty"],
  [(branch) => Buffer.byteLength(branch) > MAX_BRANCH_BYTES, `has at most ${MAX_BRANCH_BYTES} bytes`],
  [(branch) => !branch.isWellFormed(), "is well-formed Unicode"],
  [(branch) => /[\p{Cc}\p{Z}]/u.test(branch), "has no spaces or control characters"],
  // Zero-width characters and those that reverse the direction make two branches look like one.
  [(branch) => /\p{Cf}/u.test(branch), "has no invisible characters"],
  [(branch) => /[~^:?*[\\]/.test(branch), "has none of the characters ~ ^ : ? * [ \\"],
  [(branch) => /[;|&$<>`'"]/.test(branch), "has none of the characters ; | & $ < > ` ' \""],
  [(branch) => branch.includes(".."), "has no two dots in a row"],
  [
    (branch) => branch.includes("@{") || branch === "@" || branch === "HEAD",
    "is a name, not an expression such as HEAD or @{-1}",
  ],
  [(branch) => branch.startsWith("-"), "does not start with `-`"],
  [(branch) => branch.startsWith("refs/"), "is given without `refs/heads/`"],
  [(branch) => branch.split("/").includes(""), "has no `/` at its start or end, nor two in a row"],
  [(branch) => branch.split("/").some((part) => part.startsWith(".")), "has no part that starts with a dot"],
  [(branch) => branch.split("/").some((part) => part.endsWith(".lock")), "has no part that ends with `.lock`"],
  [(branch) => branch.endsWith("."), "does not end with a dot"],
];

/** Whether a text breaks a rule, and the rule in words that continue "a repository …" or "a branch …". */
type Rule = readonly [breaks: (text: string) => boolean, rule: string];

/**
 * @param repo - `owner/name` as at the git host
 * @throws {ServiceError} `invalid`
 */
export function checkRepo(repo: string): void {
  const broken = REPO_RULES.find(([breaks]) => breaks(repo));
  if (broken) throw new ServiceError("invalid", `repo: a repository ${broken[1]}, such as "acme/shop".`);
}

/** @throws {ServiceError} `invalid` */
export function checkBranch(branch: string): void {
  const broken = BRANCH_RULES.find(([breaks]) => breaks(branch));
  if (broken)
    throw new ServiceError("invalid", `branch: the name of a branch ${broken[1]}, such as "main" or "feature/cart".`);
}

function partsOf(repo: string): string[] {
  return repo.split("/");
}

function ownerOf(repo: string): string {
  return partsOf(repo)[0] ?? "";
}

function nameOf(repo: string): string {
  return partsOf(repo)[1] ?? "";
}
