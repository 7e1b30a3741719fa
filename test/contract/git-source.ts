import { access, lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BuildFailure } from "../../domain/shared/errors.ts";
import type { GitSource } from "../../domain/ports/git-source.ts";
import type { CheckoutLimits } from "../../server/drivers/git-source/checkout-limits.ts";
import { gitmodules, Repository, type TreeEntry } from "../support/builds/git-repository.ts";
import { checkOut, checkOutCommit, checkOutDefault, checkOutFailure } from "../support/builds/git-checkout.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** A git source that serves the repositories in the folder `base`. */
export interface GitSetting extends AsyncDisposable {
  base: string;
  source: GitSource;
}

export type OpenGitSetting = (limits?: Partial<CheckoutLimits>) => Promise<GitSetting>;

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .toSorted();
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** The contract of every `GitSource`. */
export function gitSourceContract(kind: string, open: OpenGitSetting): void {
  describe(`a git source (${kind})`, { concurrent: true }, () => {
    test("a checkout contains the files of the branch's tip and no files of git", async () => {
      await using setting = await open();
      const repository = await Repository.create(setting.base, "acme/shop");
      await repository.commitFiles({ "old.txt": "old" });
      const commit = await repository.commitFiles({ "package.json": "{}", "src/index.ts": "export {};" });
      await using checkout = await checkOut(setting.source);
      expect(checkout.commit).toBe(commit);
      expect(await filesIn(checkout.directory)).toEqual(["package.json", "src/index.ts"]);
      expect(await readFile(join(checkout.directory, "src/index.ts"), "utf8")).toBe("export {};");
    });

    test("a checkout keeps executable bits, and keeps links as links", async () => {
      await using setting = await open();
      const repository = await Repository.create(setting.base, "acme/shop");
      const id = await repository.blob("run.sh");
      await repository.commit(
        await repository.tree([
          { mode: "120000", name: "link", id },
          { mode: "100755", name: "run.sh", id },
        ]),
      );
      await using checkout = await checkOut(setting.source);
      expect((await lstat(join(checkout.directory, "run.sh"))).mode & 0o100).toBe(0o100);
      expect(await readlink(join(checkout.directory, "link"))).toBe("run.sh");
    });

    verifies(
      hazard(9),
      "a branch name with slashes and letters of any script selects exactly that branch",
      async () => {
        await using setting = await open();
        const repository = await Repository.create(setting.base, "acme/shop");
        await repository.commitFiles({ which: "latin" }, "feature/cafe");
        await repository.commitFiles({ which: "accented" }, "feature/café");
        await using checkout = await checkOut(setting.source, "acme/shop", "feature/café");
        expect(await readFile(join(checkout.directory, "which"), "utf8")).toBe("accented");
      },
    );

    test("a tag is not accepted as a branch", async () => {
      await using setting = await open();
      const repository = await Repository.create(setting.base, "acme/shop");
      await repository.git(["tag", "v1", await repository.commitFiles({ a: "a" })]);
      expect((await checkOutFailure(setting.source, "acme/shop", "v1")).message).toBe(
        'The repository has no branch "v1".',
      );
    });

    verifies(hazard(10), "a branch that does not exist is a user failure whose message names the branch", async () => {
      await using setting = await open();
      await (await Repository.create(setting.base, "acme/shop")).commitFiles({ a: "a" });
      const failure = await checkOutFailure(setting.source, "acme/shop", "nope");
      expect([failure.kind, failure.message]).toEqual(["user", 'The repository has no branch "nope".']);
    });

    test("a repository without the default name of the branch is checked out at the branch that its HEAD names", async () => {
      await using setting = await open();
      const repository = await Repository.create(setting.base, "acme/shop");
      await repository.commitFiles({ which: "other" }, "another");
      const commit = await repository.commitFiles({ which: "trunk" }, "release/trunk");
      await repository.git(["symbolic-ref", "HEAD", "refs/heads/release/trunk"]);
      await using checkout = await checkOutDefault(setting.source);
      expect([checkout.commit, await readFile(join(checkout.directory, "which"), "utf8")]).toEqual([commit, "trunk"]);
      expect(checkout.branch).toBe("release/trunk");
      expect(checkout.output).toContain(
        'The repository has no branch "main". Deploying its default branch, "release/trunk".',
      );
      expect((await checkOutFailure(setting.source)).message).toBe('The repository has no branch "main".');
    });

    test("a commit is checked out by its id, and only a commit", async () => {
      await using setting = await open();
      const repository = await Repository.create(setting.base, "acme/shop");
      const commit = await repository.commitFiles({ which: "first" });
      await repository.commitFiles({ which: "second" });
      await repository.git(["update-ref", `refs/heads/${"a".repeat(64)}`, commit]);
      await using checkout = await checkOutCommit(setting.source, commit);
      expect(await readFile(join(checkout.directory, "which"), "utf8")).toBe("first");
      for (const id of ["1".repeat(40), await repository.blob("first"), "a".repeat(64), "b".repeat(64)])
        await expect(checkOutCommit(setting.source, id)).rejects.toMatchObject({
          kind: "user",
          message: expect.stringContaining(id),
        });
    });

    test("a repository without commits has no branch, also when its default branch is accepted", async () => {
      await using setting = await open();
      await Repository.create(setting.base, "acme/shop");
      await expect(checkOutDefault(setting.source)).rejects.toThrow('The repository has no branch "main".');
    });

    verifies(hazard(11), "a repository that does not exist is a user failure", async () => {
      await using setting = await open();
      const failure = await checkOutFailure(setting.source, "acme/absent");
      expect([failure.kind, failure.message]).toEqual([
        "user",
        "The repository does not exist, or the service cannot read it.",
      ]);
    });

    verifies(
      [hazard(3), hazard(5), hazard(6)],
      "a branch name that looks like an option or a shell command runs nothing",
      async () => {
        await using setting = await open();
        await using sentinel = await temporaryFolder();
        await (await Repository.create(setting.base, "acme/shop")).commitFiles({ a: "a" });
        const touch = `touch ${join(sentinel.path, "ran")}`;
        for (const branch of [
          `--upload-pack=${touch};git-upload-pack`,
          `main;${touch}`,
          `$(${touch})`,
          `main\n${touch}`,
        ]) {
          expect((await checkOutFailure(setting.source, "acme/shop", branch)).kind).toMatch(/user|platform/);
        }
        expect(await readdir(sentinel.path)).toEqual([]);
      },
    );

    verifies(hazard(14), "submodules with a dangerous URL are not checked out", async () => {
      await using setting = await open();
      const repository = await Repository.create(setting.base, "acme/shop");
      const urls = ["ext::sh -c touch% /tmp/ran", "file:///etc", "--upload-pack=touch", "../other\r"];
      const modules = urls
        .map((url, n) => `[submodule "m${n}"]\n\tpath = m${n}\n\turl = "${url}"\n\tupdate = checkout\n`)
        .join("");
      const gitlinks = urls.map((_, n): TreeEntry => ({ mode: "160000", name: `m${n}`, id: "1".repeat(40) }));
      const id = await repository.blob(modules);
      await repository.commit(await repository.tree([{ mode: "100644", name: ".gitmodules", id }, ...gitlinks]));
      await using checkout = await checkOut(setting.source);
      expect(await filesIn(checkout.directory)).toEqual([".gitmodules"]);
    });

    test("submodules with a relative URL are checked out at their commit, with their own submodules", async () => {
      await using setting = await open();
      const inner = await Repository.create(setting.base, "other/inner");
      const innerId = await inner.commitFiles({ "inner.txt": "inner" });
      await inner.commitFiles({ "inner.txt": "newer" });
      const theme = await Repository.create(setting.base, "acme/theme");
      const themeId = await theme.commitFiles(
        { "theme.css": "a {}", ".gitmodules": gitmodules([{ path: "lib", url: "../../other/inner.git" }]) },
        "main",
        [{ mode: "160000", name: "lib", id: innerId }],
      );
      const shop = await Repository.create(setting.base, "acme/shop");
      await shop.commitFiles({ ".gitmodules": gitmodules([{ path: "theme", url: "../theme" }]) }, "main", [
        { mode: "160000", name: "theme", id: themeId },
      ]);
      await using checkout = await checkOut(setting.source);
      expect([...checkout.warnings, ...(await filesIn(checkout.directory))]).toEqual([
        ".gitmodules",
        "theme/.gitmodules",
        "theme/lib/inner.txt",
        "theme/theme.css",
      ]);
      expect(await readFile(join(checkout.directory, "theme/lib/inner.txt"), "utf8")).toBe("inner");
    });

    test("files in Git LFS that the host does not serve, and submodules without a URL, are named in a warning", async () => {
      await using setting = await open();
      const repository = await Repository.create(setting.base, "acme/shop");
      const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12345\n`;
      const images = Object.fromEntries(
        ["a", "é", "c", "d", "e", "f", "g"].map((name) => [`img/${name}.png`, pointer]),
      );
      const text = {
        "README.md": pointer.replace("version", "The version"),
        "big.txt": pointer + "x".repeat(1024),
      };
      const gitlink: TreeEntry = { mode: "160000", name: "theme", id: "1".repeat(40) };
      await repository.commitFiles({ ...images, ...text }, "main", [gitlink]);
      await using checkout = await checkOut(setting.source);
      expect(checkout.warnings).toEqual([
        expect.stringMatching(
          /^Git LFS: img\/a\.png, img\/c\.png, .*and 2 more have only the text of a pointer, because the git host does not serve Git LFS/,
        ),
        expect.stringMatching(/^Submodules: theme is empty, because \.gitmodules has no URL for it\./),
      ]);
    });

    verifies(hazard(15), "git does not write through a link that leads out of the repository", async () => {
      await using setting = await open();
      await using host = await temporaryFolder();
      const repository = await Repository.create(setting.base, "acme/shop");
      const target = await repository.blob(host.path);
      const inside = await repository.tree([{ mode: "100644", name: "file", id: target }]);
      // The same name twice: a link that leads out of the repository, and a folder with a file to write through it.
      await repository.commit(
        await repository.tree([
          { mode: "120000", name: "out", id: target },
          { mode: "40000", name: "out", id: inside },
        ]),
      );
      await checkOut(setting.source).then(
        (checkout) => checkout[Symbol.asyncDispose](),
        (error: unknown) => expect(error).toBeInstanceOf(BuildFailure),
      );
      expect(await readdir(host.path)).toEqual([]);
    });

    verifies(hazard(17), "hooks, filters and large-file pointers of a repository run nothing", async () => {
      await using setting = await open();
      await using sentinel = await temporaryFolder();
      const repository = await Repository.create(setting.base, "acme/shop");
      const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 9\n`;
      await repository.commitFiles({
        ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs\n*.txt filter=evil ident\n",
        ".gitconfig": `[filter "evil"]\n\tsmudge = touch ${sentinel.path}/ran\n\trequired = true\n`,
        ".lfsconfig": "[lfs]\n\turl = http://127.0.0.1:1\n",
        ".githooks/post-checkout": `#!/bin/sh\ntouch ${sentinel.path}/ran\n`,
        "hooks/post-checkout": `#!/bin/sh\ntouch ${sentinel.path}/ran\n`,
        "large.bin": pointer,
        "a.txt": "as it is",
      });
      await using checkout = await checkOut(setting.source);
      expect(await readFile(join(checkout.directory, "large.bin"), "utf8")).toBe(pointer);
      expect(await readFile(join(checkout.directory, "a.txt"), "utf8")).toBe("as it is");
      expect(await readdir(sentinel.path)).toEqual([]);
    });

    for (const name of [".git", ".GIT", ".Git", "git~1", ".g\u200cit", ".git ", "..", "."]) {
      verifies(
        hazard(19),
        `a file name that some file system treats as .git is refused: ${JSON.stringify(name)}`,
        async () => {
          await using setting = await open();
          const repository = await Repository.create(setting.base, "acme/shop");
          const config = await repository.blob("[core]\n\tfsmonitor = touch /tmp/ran\n");
          const id = await repository.tree([{ mode: "100644", name: "config", id: config }]);
          await repository.commit(await repository.tree([{ mode: "40000", name, id }]));
          expect((await checkOutFailure(setting.source)).kind).toBe("user");
        },
      );
    }

    test("a file name that is not UTF-8 is refused", async () => {
      await using setting = await open();
      const repository = await Repository.create(setting.base, "acme/shop");
      const name = Buffer.from([0x61, 0xff, 0x62]);
      await repository.commit(await repository.tree([{ mode: "100644", name, id: await repository.blob("") }]));
      expect((await checkOutFailure(setting.source)).message).toBe(
        "The branch contains a file whose name is not UTF-8.",
      );
    });

    test("an aborted checkout rejects with the reason of the abort", async () => {
      await using setting = await open();
      await (await Repository.create(setting.base, "acme/shop")).commitFiles({ a: "a" });
      const reason = new Error("superseded");
      await expect(checkOut(setting.source, "acme/shop", "main", AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    test("a repeated checkout has the same commit and files", async () => {
      await using setting = await open();
      await (await Repository.create(setting.base, "acme/shop")).commitFiles({ a: "a" });
      await using first = await checkOut(setting.source);
      await using second = await checkOut(setting.source);
      expect([second.commit, await filesIn(second.directory)]).toEqual([first.commit, await filesIn(first.directory)]);
      expect(await exists(join(second.directory, ".git"))).toBe(false);
    });
  });
}
