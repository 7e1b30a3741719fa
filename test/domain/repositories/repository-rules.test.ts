import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkBranch, checkRepo } from "../../../domain/repositories/repository-rules.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { hazard, verifies } from "../../support/verifies.ts";

/** The code and message of the error that a check throws; `null` when it throws none. */
function errorOf(check: () => void): { code: string; message: string } | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, message: error.message };
    throw error;
  }
}

const repoError = (repo: string) => errorOf(() => checkRepo(repo));
const branchError = (branch: string) => errorOf(() => checkBranch(branch));

for (const repo of [
  "acme/shop",
  "a/b",
  "A-1_b.c/d_e-f.g",
  ".github/x",
  "a/.github",
  "_/-x".replace("-", "_"),
  `${"o".repeat(39)}/${"n".repeat(100)}`,
  "a/b.github",
  "a/...",
]) {
  test(`the repository name is accepted: ${repo.slice(0, 40)}`, () => {
    expect(repoError(repo)).toBeNull();
  });
}

function expectRejectedRepos(repos: readonly string[]): void {
  for (const repo of repos) {
    const message = expect.stringMatching(/^repo: must .{10,}\. Example: /);
    expect([repo.slice(0, 40), repoError(repo)]).toEqual([repo.slice(0, 40), { code: "invalid", message }]);
  }
}

verifies(hazard(1), "a repository name that does not have the form owner/name is rejected", () => {
  expectRejectedRepos([
    "",
    "a",
    "/",
    "a/",
    "/b",
    "a/b/c",
    "a/b\n",
    "\na/b",
    "a/b ",
    "a b/c",
    "a/b\0",
    "https://github.com/a/b",
    "git@github.com:a/b",
    "a\\b",
    "ä/b",
    "a/b?x",
    "a/b#x",
    "a/b%2f..",
  ]);
});

verifies(hazard(2), "a repository name that is a relative path or ends in .git is rejected", () => {
  expectRejectedRepos(["../..", "./.", "a/..", "../a", "a/.", "a/.git", "a/b.git", "a/b.GIT"]);
});

verifies(hazard(3), "a repository name that reads as a command-line option is rejected", () => {
  expectRejectedRepos(["-o/x", "--upload-pack/x", "x/-o", "x/--upload-pack"]);
});

verifies(hazard(4), "a repository name that is too long is rejected", () => {
  expectRejectedRepos([`${"o".repeat(40)}/n`, `o/${"n".repeat(101)}`, `${"o".repeat(2500)}/${"n".repeat(2500)}`]);
});

test("the error for a repository name says what is valid", () => {
  expect(repoError("acme")?.message).toBe(
    'repo: must have the form owner/name, of letters, digits, `_`, `.` and `-`. Example: "acme/shop".',
  );
});

for (const branch of [
  "main",
  "feature/cart",
  "v1.2.3",
  "a.lock.b",
  "user@host",
  "release/2026-01",
  "@x",
  "dependabot/npm_and_yarn/@types/node-24",
  "fix(ui)!",
  "a#1",
  "100%",
  "a,b+c=d",
  "HEADER",
  "refs",
  "x/HEAD",
]) {
  test(`the branch name is accepted: ${branch}`, () => {
    expect(branchError(branch)).toBeNull();
  });
}

verifies(hazard(9), "a branch name may have letters of every script", () => {
  for (const branch of ["café", "главная", "日本語", "ελληνικά", "עברית", "🚀"])
    expect([branch, branchError(branch)]).toEqual([branch, null]);
});

function expectRejectedBranches(branches: readonly string[]): void {
  for (const branch of branches) {
    const message = expect.stringMatching(/^branch: must .{10,}\. Examples: /s);
    expect([branch.slice(0, 40), branchError(branch)]).toEqual([branch.slice(0, 40), { code: "invalid", message }]);
  }
}

verifies(hazard(5), "a branch name that git reads as an option is rejected", () => {
  expectRejectedBranches(["-", "-d", "--upload-pack=x", "--upload-pack=touch /tmp/p;git-upload-pack"]);
});

verifies(hazard(6), "a branch name with shell syntax, spaces or control characters is rejected", () => {
  expectRejectedBranches([
    "main; curl x|sh",
    "a;b",
    "a|b",
    "$(id)",
    "$HOME",
    "`id`",
    "a&b",
    "a>b",
    "a<b",
    "a'b",
    'a"b',
    "a b",
    "a\nb",
    "main\n",
    "a\0b",
    "a\x1b[31m",
    "a\x7f",
    "a\tb",
  ]);
});

verifies(hazard(7), "a branch name that is an expression, a range, a full ref or invalid in git is rejected", () => {
  expectRejectedBranches([
    "@{-1}",
    "@",
    "HEAD",
    "HEAD~1",
    "HEAD^",
    "a..b",
    "x.lock",
    "a.lock/b",
    "refs/heads/main",
    "a:b",
    "a?",
    "a*",
    "a[b",
    "a\\b",
    "/a",
    "a/",
    "a//b",
    ".a",
    "a/.b",
    "a.",
  ]);
});

verifies(hazard(8), "an empty or blank branch name is rejected", () => {
  expectRejectedBranches(["", " ", "   ", "\t", "\u00a0", "\u3000"]);
  for (const branch of ["", " "]) expect(branchError(branch)?.message).toContain("must not be empty");
});

verifies(
  hazard(9),
  "a branch name with characters that are invisible or reverse the text direction is rejected",
  () => {
    expectRejectedBranches([
      "main\u202e",
      "\u2066main\u2069",
      "ma\u200bin",
      "ma\u200din",
      "\ufeffmain",
      "ma\u00adin",
      "a\u2028b",
      "a\ud800b",
    ]);
  },
);

test("a branch name may have 255 bytes, however many characters these are", () => {
  expect(branchError("b".repeat(255))).toBeNull();
  expect(branchError("b".repeat(256))).toMatchObject({
    code: "invalid",
    message: expect.stringContaining("255 bytes"),
  });
  expect(branchError("日".repeat(86))?.code).toBe("invalid");
});

test("the error for a branch name says what is valid", () => {
  expect(branchError("a..b")?.message).toBe(
    'branch: must not contain two dots in a row. Examples: "main", "feature/cart".',
  );
});

verifies(hazard(7), "git accepts every branch name that we accept", () => {
  const unit = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(..."abHEAD./-@{}~^:?*[]\\ ;|&$`'\"<>()#%,+=!\u202e\u00e9\u65e5\n\t\0".split("")),
    },
    fc.constantFrom("..", "@{", ".lock", "refs/", "heads/", "HEAD", "//", "/."),
    fc.string({ unit: "binary", maxLength: 3 }),
  );
  const branches = fc.array(unit, { minLength: 1, maxLength: 8 }).map((units) => units.join(""));
  const accepted = fc.sample(
    branches.filter((branch) => branchError(branch) === null),
    150,
  );
  expect(accepted).toHaveLength(150);
  expect(branchesThatGitRejects(accepted)).toEqual([]);
});

test("git rejects branch names with two dots or with a hyphen at the start", () => {
  expect(branchesThatGitRejects(["main", "a..b", "feature/x", "-x"])).toEqual(["a..b", "-x"]);
});

const CHECK = `git check-ref-format --branch "$1" && git check-ref-format "refs/heads/$1" || printf '%s\\0' "$1" >&3`;

/** xargs starts git much faster than this process, which is large. The names are arguments of a fixed script. */
function branchesThatGitRejects(branches: readonly string[]): string[] {
  const { status, output } = spawnSync("xargs", ["-0", "-n", "1", "sh", "-c", CHECK, "sh"], {
    input: branches.join("\0"),
    stdio: ["pipe", "ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  expect(status).toBe(0);
  return (output[3] ?? "").split("\0").filter(Boolean);
}
