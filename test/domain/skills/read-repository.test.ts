import type { EntityManager } from "@mikro-orm/core";
import { beforeEach, expect, test } from "vitest";
import type { Checkout } from "../../../domain/ports/git-source.ts";
import type { Workspace } from "../../../domain/ports/temporary-workspaces.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { ValueCipher } from "../../../domain/shared/value-cipher.ts";
import { CheckoutLimiter } from "../../../domain/skills/checkout-limiter.ts";
import { type ReadRepositoryDeps, readRepository } from "../../../domain/skills/read-repository.ts";

const COMMIT = "c".repeat(40);

/** The files of the repository; what its checkout throws; the checkouts that were requested; the workspaces that are left. */
let repository: Record<string, string>;
let failure: Error | null;
let checkouts: Checkout[];
let workspaces: Set<string>;

beforeEach(() => {
  [repository, failure, checkouts, workspaces] = [{ "SKILL.md": "# Root" }, null, [], new Set()];
});

const deps: ReadRepositoryDeps = {
  // An organization without git connections.
  em: { fork: () => ({ find: () => Promise.resolve([]) }) } as unknown as EntityManager,
  gitHosts: { checkRepository: () => expect.unreachable(), issueToken: () => expect.unreachable() },
  gitTokenCipher: new ValueCipher("0123456789abcdef0123456789abcdef", "git-connections"),
  gitBaseUrl: "https://github.com",
  git: {
    checkOut: async (checkout) => {
      checkouts.push(checkout);
      if (failure !== null) throw failure;
      return { commit: COMMIT };
    },
  },
  workspaces: {
    open: async (id, attempt) => {
      const folder = `${id}/${attempt}`;
      workspaces.add(folder);
      return workspaceIn(folder);
    },
    clear: () => Promise.resolve(),
  },
  checkouts: new CheckoutLimiter(),
};

function workspaceIn(folder: string): Workspace {
  const unused = () => expect.unreachable();
  return {
    sourceDirectory: `${folder}/source`,
    outputDirectory: `${folder}/output`,
    sourceFiles: async function* () {
      for (const [path, text] of Object.entries(repository)) yield { path, read: async () => Buffer.from(text) };
    },
    filesIn: unused,
    readFile: unused,
    readFileInParts: unused,
    writeOutput: unused,
    createOutputFolder: unused,
    copyFolder: unused,
    removeFolder: unused,
    readSourceText: unused,
    writeSourceText: unused,
    remove: async () => void workspaces.delete(folder),
  };
}

async function read(request: { repo?: string; branch?: string; path?: string } = {}) {
  const { files, repository: source } = await readRepository(deps, "org-1", {
    name: "notes",
    repo: "acme/skills",
    ...request,
  });
  return {
    files: Object.fromEntries([...files].map(([path, content]) => [path, Buffer.from(content).toString()])),
    source,
  };
}

test("the branch main is read, or the default branch of a repository without it", async () => {
  expect(await read()).toEqual({
    files: { "SKILL.md": "# Root" },
    source: { repo: "acme/skills", host: null, branch: null, path: ".", commit: COMMIT },
  });
  expect(checkouts).toMatchObject([
    { repo: "acme/skills", branch: "main", orDefaultBranch: true, directory: expect.stringMatching(/\/1\/source$/) },
  ]);
  expect(workspaces.size).toBe(0);
});

test("a branch that is given is read, and no other one instead", async () => {
  expect(await read({ branch: "next" })).toMatchObject({ source: { branch: "next" } });
  expect(checkouts).toMatchObject([{ branch: "next", orDefaultBranch: false }]);
});

test.each([
  ["skills/notes", "skills/notes"],
  ["./skills/notes/", "skills/notes"],
  ["./", "."],
  ["/", "."],
  ["", "."],
  [".", "."],
])("the path %j is the folder %s", async (path, folder) => {
  repository = { "skills/notes/SKILL.md": "# Nested", "skills/notes/a/b.txt": "b", "skills/notes-2/a.txt": "a" };
  if (folder === ".") repository = { "SKILL.md": "# Nested", "a/b.txt": "b" };
  expect(await read({ path })).toMatchObject({
    files: { "SKILL.md": "# Nested", "a/b.txt": "b" },
    source: { path: folder },
  });
});

test.each([
  [{ repo: "acme" }, "repo: must have the form owner/name"],
  [{ branch: "a b" }, "branch: must not contain spaces"],
  [{ path: "../notes" }, "path: must not contain `..`"],
  [{ path: "/notes" }, "path: must be relative"],
  [{ path: "a//" }, "path: must not contain empty segments"],
])("%j is rejected without a checkout", async (request, message) => {
  await expect(read(request)).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining(message) });
  expect(checkouts).toEqual([]);
});

test("a folder without files, and files that are not a skill, are rejected", async () => {
  repository = { "skills/notes.md": "", "docs/README.md": "" };
  const rejected = (message: string) => ({ code: "invalid", message: expect.stringContaining(message) });
  for (const path of ["skills/notes", "absent"])
    await expect(read({ path })).rejects.toMatchObject(rejected(`no files in the folder "${path}"`));
  await expect(read({ path: "docs" })).rejects.toMatchObject(rejected("the skill has no SKILL.md"));
  repository["docs/a\\b"] = "";
  await expect(read({ path: "docs" })).rejects.toMatchObject(rejected('"a\\\\b" must have `/` between folders'));
  expect(workspaces.size).toBe(0);
});

test("a failed checkout is the fault of the request, or of the git host, and leaves no workspace", async () => {
  failure = new BuildFailure("user", "The repository has no branch.", "Deploy another one.");
  await expect(read()).rejects.toMatchObject({ code: "invalid", message: "repo: The repository has no branch." });
  failure = new BuildFailure("platform", "The git host does not respond.", "Deploy again.");
  await expect(read()).rejects.toMatchObject({ code: "unavailable", message: "repo: The git host does not respond." });
  failure = new TypeError("a mistake of the service");
  await expect(read()).rejects.toBe(failure);
  expect([checkouts.length, workspaces.size]).toEqual([3, 0]);
});
