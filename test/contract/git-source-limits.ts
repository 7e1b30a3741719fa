import { randomBytes } from "node:crypto";
import { describe, expect } from "vitest";
import { Repository, type TreeEntry } from "../support/builds/git-repository.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { checkOutFailure } from "../support/builds/git-checkout.ts";
import type { OpenGitSetting } from "./git-source.ts";

/** The limits of every `GitSource`. */
export function gitSourceLimitsContract(kind: string, open: OpenGitSetting): void {
  describe(`the limits of a git source (${kind})`, { concurrent: true }, () => {
    const LIMITS = { totalBytes: 2_000_000, fileBytes: 500_000, files: 200, pathBytes: 300, pathDepth: 20 };

    verifies(hazard(18), "a branch with a file above the limit is refused before any file is written", async () => {
      await using setting = await open(LIMITS);
      await (
        await Repository.create(setting.base, "acme/shop")
      ).commitFiles({ "a-first": "a", big: "x".repeat(600_000) });
      const failure = await checkOutFailure(setting.source);
      expect([failure.kind, failure.message]).toEqual(["user", "The branch contains a file larger than 0.477 MiB."]);
    });

    verifies(hazard(18), "a branch with too many bytes is refused, even if its pack is small", async () => {
      await using setting = await open(LIMITS);
      const repository = await Repository.create(setting.base, "acme/shop");
      const id = await repository.blob("x".repeat(450_000));
      const entries = [1, 2, 3, 4, 5].map((n): TreeEntry => ({ mode: "100644", name: `f${n}`, id }));
      await repository.commit(await repository.tree(entries));
      expect((await checkOutFailure(setting.source)).message).toBe(
        "The files of the branch are larger than 1.907 MiB in total.",
      );
    });

    verifies(hazard(18), "a branch with too many files is refused", async () => {
      await using setting = await open(LIMITS);
      const repository = await Repository.create(setting.base, "acme/shop");
      const id = await repository.blob("");
      const entries = Array.from({ length: 201 }, (_, n): TreeEntry => ({
        mode: "100644",
        name: `f${1000 + n}`,
        id,
      }));
      await repository.commit(await repository.tree(entries));
      expect((await checkOutFailure(setting.source)).message).toBe(
        "The branch contains more than 200 files and folders.",
      );
    });

    verifies(hazard(18), "a git bomb of ten billion files in twelve objects is refused early", async () => {
      await using setting = await open();
      const repository = await Repository.create(setting.base, "acme/shop");
      let id = await repository.blob("boom");
      for (let level = 0; level < 10; level++) {
        const mode = level === 0 ? "100644" : "40000";
        const inside = id;
        id = await repository.tree(
          Array.from({ length: 10 }, (_, n): TreeEntry => ({ mode, name: `d${n}`, id: inside })),
        );
      }
      await repository.commit(id);
      expect((await checkOutFailure(setting.source)).message).toBe(
        "The branch contains more than 50,000 files and folders.",
      );
    });

    verifies(hazard(18), "a path with too many nested folders is refused, even with 4,000 of them", async () => {
      await using setting = await open(LIMITS);
      const repository = await Repository.create(setting.base, "acme/shop");
      await repository.commitFiles({ [`${"d/".repeat(20)}file`]: "" });
      expect((await checkOutFailure(setting.source)).message).toBe(
        "The branch contains a path with more than 20 nested folders.",
      );
      await repository.commit(await writeDeepTree(repository, 4000));
      expect((await checkOutFailure(setting.source)).message).toBe(
        "The branch contains a path with more than 20 nested folders.",
      );
    });

    verifies(hazard(18), "a path with too many bytes is refused", async () => {
      await using setting = await open(LIMITS);
      const name = "n".repeat(200);
      await (await Repository.create(setting.base, "acme/shop")).commitFiles({ [`${name}/${name}`]: "" });
      expect((await checkOutFailure(setting.source)).message).toBe("The branch contains a path longer than 300 bytes.");
    });

    verifies(hazard(18), "a download that is too large is stopped", async () => {
      await using setting = await open(LIMITS);
      const repository = await Repository.create(setting.base, "acme/shop");
      const id = await repository.blob(randomBytes(6_000_000));
      await repository.commit(await repository.tree([{ mode: "100644", name: "noise", id }]));
      expect((await checkOutFailure(setting.source)).message).toBe(
        "The files of the branch are larger than 1.907 MiB in total.",
      );
    });

    verifies(hazard(18), "a checkout that takes too long is stopped", async () => {
      await using setting = await open({ wallTimeMs: 1 });
      await (await Repository.create(setting.base, "acme/shop")).commitFiles({ a: "a" });
      const failure = await checkOutFailure(setting.source);
      expect([failure.kind, failure.message]).toEqual(["user", "The checkout took longer than 0.001 seconds."]);
    });
  });
}

/** Writes `depth` nested folders. */
async function writeDeepTree(repository: Repository, depth: number): Promise<string> {
  let id = await repository.blob("");
  for (let level = 0; level < depth; level++)
    id = await repository.tree([{ mode: level === 0 ? "100644" : "40000", name: "d", id }]);
  return id;
}
