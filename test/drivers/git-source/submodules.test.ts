import { createHash, randomBytes } from "node:crypto";
import { lstat, readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import type { CheckoutLimits } from "../../../server/drivers/git-source/checkout-limits.ts";
import { SandboxedGit } from "../../../server/drivers/git-source/sandboxed-git.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { UnconfinedSandbox } from "../../../server/sandbox/unconfined-sandbox.ts";
import { checkOut } from "../../support/builds/git-checkout.ts";
import { gitmodules, Repository, type TreeEntry } from "../../support/builds/git-repository.ts";
import { gitServer, type RequestOverride } from "../../support/builds/git-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const sandbox = new BubblewrapSandbox();

interface ModuleEntry {
  path: string;
  url: string;
  commit: string;
}

/** A git server. `commit` commits files and submodules at the root to a repository, and returns the id of the commit. */
async function openServer(override?: RequestOverride) {
  const folder = await temporaryFolder();
  const server = await gitServer(folder.path, override);
  const commit = async (
    repo: string,
    files: Readonly<Record<string, string>>,
    modules: readonly ModuleEntry[] = [],
  ) => {
    const repository = await Repository.create(folder.path, repo);
    const links = modules.map(({ path, commit: id }): TreeEntry => ({ mode: "160000", name: path, id }));
    const settings: Record<string, string> = modules.length === 0 ? {} : { ".gitmodules": gitmodules(modules) };
    return repository.commitFiles({ ...files, ...settings }, "main", links);
  };
  return {
    ...server,
    base: folder.path,
    commit,
    source: (limits: Partial<CheckoutLimits> = {}) => new SandboxedGit({ baseUrl: server.url, sandbox, limits }),
    /** Reads the same repositories from the folder, which is faster. */
    localSource: () => new SandboxedGit({ baseUrl: pathToFileURL(folder.path).href, sandbox }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe("submodules", { concurrent: true }, () => {
  test("with an absolute URL of the git host are checked out, and others are named in a warning", async () => {
    await using server = await openServer();
    const theme = await server.commit("other/theme", { "theme.css": "a {}" });
    const port = new URL(server.url).port;
    const modules = [
      { path: "a", url: `${server.url}/other/theme.git`, commit: theme },
      { path: "b", url: "git@127.0.0.1:other/theme.git", commit: theme },
      { path: "c", url: `http://user:secret@localhost:${port}/other/theme`, commit: theme },
      { path: "d", url: "https://gitlab.com/other/theme", commit: theme },
      { path: "e", url: "../absent", commit: theme },
      { path: "f", url: "../../other/theme", commit: "1".repeat(40) },
      { path: "-g", url: "../../other/theme", commit: theme },
    ];
    await server.commit("acme/shop", { "index.html": "shop" }, modules);
    await using checkout = await checkOut(server.source());
    for (const path of ["a", "b"])
      expect(await readFile(join(checkout.directory, path, "theme.css"), "utf8")).toBe("a {}");
    for (const path of ["c", "d", "e", "f", "-g"]) expect(await readdir(join(checkout.directory, path))).toEqual([]);
    expect(checkout.warnings.toSorted()).toEqual([
      "Submodules: -g (../../other/theme) is empty, because the path is not valid. Commit the files to the repository, or use a package.",
      `Submodules: c (http://localhost:${port}/other/theme) and d (https://gitlab.com/other/theme) are empty, because only submodules of the git host are cloned, with a URL of owner/name. Commit the files to the repository, or use a package.`,
      "Submodules: e (../absent) and f (../../other/theme) are empty, because the git host has no such commit, or the service cannot read it. Commit the files to the repository, or use a package.",
    ]);
  });

  test("get the files that their repository has in Git LFS", async () => {
    const content = "a large file";
    const oid = createHash("sha256").update(content).digest("hex");
    const respondWithObject = async (request: IncomingMessage, response: ServerResponse) => {
      await json(request);
      const actions = { download: { href: `${server.url}/object` } };
      response.end(JSON.stringify({ objects: [{ oid, size: content.length, actions }] }));
    };
    await using server = await openServer((request, response) => {
      if (request.url === "/object") response.end(content);
      else if (request.url === "/acme/theme.git/info/lfs/objects/batch") void respondWithObject(request, response);
      else return false;
      return true;
    });
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`;
    const theme = await server.commit("acme/theme", { "large.bin": pointer });
    await server.commit("acme/shop", {}, [{ path: "theme", url: "../theme", commit: theme }]);
    await using checkout = await checkOut(server.source());
    expect([checkout.warnings, await readFile(join(checkout.directory, "theme/large.bin"), "utf8")]).toEqual([
      [],
      content,
    ]);
  });

  verifies(hazard(18), "count together with the branch against the limits of the checkout", async () => {
    await using server = await openServer();
    const noise = () => randomBytes(300_000).toString("hex");
    const [a, b] = [await server.commit("acme/a", { a: noise() }), await server.commit("acme/b", { b: noise() })];
    await server.commit("acme/shop", { shop: noise() }, [
      { path: "a", url: "../a", commit: a },
      { path: "b", url: "../b", commit: b },
    ]);
    await using checkout = await checkOut(server.source({ totalBytes: 1_500_000, fileBytes: 1_000_000 }));
    expect([await readdir(join(checkout.directory, "a")), await readdir(join(checkout.directory, "b"))]).toEqual([
      ["a"],
      [],
    ]);
    expect(checkout.warnings).toEqual([
      expect.stringContaining("b (../b) is empty, because the checkout would exceed its limits."),
    ]);
  });

  verifies(
    [hazard(14), hazard(18)],
    "are checked out to a bounded depth, also if a repository contains itself",
    async () => {
      await using server = await openServer();
      let commit = await server.commit("acme/loop", { end: "" });
      for (let depth = 0; depth < 6; depth++)
        commit = await server.commit("acme/loop", {}, [{ path: "in", url: "../loop", commit }]);
      await server.commit("acme/shop", {}, [{ path: "in", url: "../loop", commit }]);
      await using checkout = await checkOut(server.localSource());
      expect(checkout.warnings).toEqual([
        expect.stringContaining("in/in/in/in/in (../loop) is empty, because submodules are nested too deep."),
      ]);
    },
  );

  verifies([hazard(14), hazard(18)], "are checked out up to a number of them", async () => {
    await using server = await openServer();
    const commit = await server.commit("acme/part", { part: "" });
    const modules = Array.from({ length: 60 }, (_, n) => ({ path: `m${10 + n}`, url: "../part", commit }));
    await server.commit("acme/shop", {}, modules);
    await using checkout = await checkOut(server.localSource());
    const found = await Promise.all(modules.map(({ path }) => readdir(join(checkout.directory, path))));
    expect(found.filter((files) => files.length > 0)).toHaveLength(32);
    expect(checkout.warnings).toEqual([
      expect.stringMatching(/m42 .* and 13 more are empty, because the repository has too many submodules/),
      "Submodules: 10 more are empty, because the repository has too many submodules.",
    ]);
  });

  for (const [kind, each] of [["bubblewrap", sandbox] as const, ["unconfined", new UnconfinedSandbox()] as const]) {
    verifies(
      [hazard(14), hazard(15), hazard(19)],
      `cannot be written outside the checkout or as .git (${kind})`,
      async () => {
        await using server = await openServer();
        await using outside = await temporaryFolder();
        const theme = await server.commit("acme/theme", { "theme.css": "a {}" });
        const shop = await Repository.create(server.base, "acme/shop");
        const link = await shop.blob(outside.path);
        const settings = (path: string) => shop.blob(gitmodules([{ path, url: "../theme" }]));
        const root = async (path: string, entries: readonly TreeEntry[]) =>
          shop.commit(await shop.tree([{ mode: "100644", name: ".gitmodules", id: await settings(path) }, ...entries]));
        const nested = await shop.tree([{ mode: "160000", name: "m", id: theme }]);
        const trees: [path: string, entries: TreeEntry[]][] = [
          // The same name twice: a link that leads out of the repository, and a submodule at or below it.
          [
            "out",
            [
              { mode: "120000", name: "out", id: link },
              { mode: "160000", name: "out", id: theme },
            ],
          ],
          [
            "out/m",
            [
              { mode: "120000", name: "out", id: link },
              { mode: "40000", name: "out", id: nested },
            ],
          ],
          [".git", [{ mode: "160000", name: ".git", id: theme }]],
          [".GIT", [{ mode: "160000", name: ".GIT", id: theme }]],
          ["..", [{ mode: "160000", name: "..", id: theme }]],
          ["../m", [{ mode: "40000", name: "..", id: nested }]],
        ];
        for (const [path, entries] of trees) {
          await root(path, entries);
          const source = new SandboxedGit({ baseUrl: server.url, sandbox: each });
          const checkout = await checkOut(source).catch(() => null);
          expect(await readdir(outside.path)).toEqual([]);
          if (checkout === null) continue;
          expect(await readdir(checkout.directory)).not.toContain(".git");
          if (path.startsWith("out")) expect((await lstat(join(checkout.directory, "out"))).isFile()).toBe(false);
          await checkout[Symbol.asyncDispose]();
        }
      },
    );
  }
});
