import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkBranch, checkRepo } from "../../../domain/apps/repository-rules.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { hazard, verifies } from "../../support/verifies.ts";

/** The code and text of the refusal; `null` when there is none. */
function refusalOf(check: () => void): { code: string; message: string } | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, message: error.message };
    throw error;
  }
}

const repoRefusal = (repo: string) => refusalOf(() => checkRepo(repo));
const branchRefusal = (branch: string) => refusalOf(() => checkBranch(branch));

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
  test(`is a repository: ${repo.slice(0, 40)}`, () => {
    expect(repoRefusal(repo)).toBeNull();
  });
}

function refusesRepos(repos: readonly string[]): void {
  for (const repo of repos)
    expect([repo.slice(0, 40), repoRefusal(repo)?.code]).toEqual([repo.slice(0, 40), "invalid"]);
}

verifies(hazard(1), "what is not owner/name in full is no repository", () => {
  refusesRepos([
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

verifies(hazard(2), "a name that means another folder is no repository", () => {
  refusesRepos(["../..", "./.", "a/..", "../a", "a/.", "a/.git", "a/b.git", "a/b.GIT"]);
});

verifies(hazard(3), "a name that reads as an option is no repository", () => {
  refusesRepos(["-o/x", "--upload-pack/x", "x/-o", "x/--upload-pack"]);
});

verifies(hazard(4), "a name that is too long is no repository", () => {
  refusesRepos([`${"o".repeat(40)}/n`, `o/${"n".repeat(101)}`, `${"o".repeat(2500)}/${"n".repeat(2500)}`]);
});

test("the refusal of a repository says what is valid", () => {
  expect(repoRefusal("acme")?.message).toBe(
    'repo: a repository has the form owner/name, of letters, digits, `_`, `.` and `-`, such as "acme/shop".',
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
  test(`is a branch: ${branch}`, () => {
    expect(branchRefusal(branch)).toBeNull();
  });
}

verifies(hazard(9), "letters of every script are allowed in a branch", () => {
  for (const branch of ["café", "главная", "日本語", "ελληνικά", "עברית", "🚀"])
    expect([branch, branchRefusal(branch)]).toEqual([branch, null]);
});

function refusesBranches(branches: readonly string[]): void {
  for (const branch of branches)
    expect([branch.slice(0, 40), branchRefusal(branch)?.code]).toEqual([branch.slice(0, 40), "invalid"]);
}

verifies(hazard(5), "a name that git reads as an option is no branch", () => {
  refusesBranches(["-", "-d", "--upload-pack=x", "--upload-pack=touch /tmp/p;git-upload-pack"]);
});

verifies(hazard(6), "shell syntax, spaces and control characters are in no branch", () => {
  refusesBranches([
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

verifies(hazard(7), "expressions, ranges, full refs and what git refuses are no branch", () => {
  refusesBranches([
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

verifies(hazard(8), "an empty or blank name is no branch", () => {
  refusesBranches(["", " ", "   ", "\t", "\u00a0", "\u3000"]);
});

verifies(hazard(9), "characters that reverse the direction or cannot be seen are in no branch", () => {
  refusesBranches([
    "main\u202e",
    "\u2066main\u2069",
    "ma\u200bin",
    "ma\u200din",
    "\ufeffmain",
    "ma\u00adin",
    "a\u2028b",
    "a\ud800b",
  ]);
});

test("a branch has at most 255 bytes, however few characters those are", () => {
  expect(branchRefusal("b".repeat(255))).toBeNull();
  expect(branchRefusal("b".repeat(256))?.code).toBe("invalid");
  expect(branchRefusal("日".repeat(86))?.code).toBe("invalid");
});

test("the refusal of a branch says what is valid", () => {
  expect(branchRefusal("a..b")?.message).toBe(
    'branch: the name of a branch has no two dots in a row, such as "main" or "feature/cart".',
  );
});

verifies(hazard(7), "git accepts every branch that we accept", () => {
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
    branches.filter((branch) => branchRefusal(branch) === null),
    150,
  );
  for (const branch of accepted) {
    expect([
      branch,
      git("check-ref-format", "--branch", branch),
      git("check-ref-format", `refs/heads/${branch}`),
    ]).toEqual([branch, 0, 0]);
  }
});

function git(...options: string[]): number | null {
  return spawnSync("git", options).status;
}
