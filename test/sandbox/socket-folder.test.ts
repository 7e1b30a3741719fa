import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { createSocketFolder, removeAbandonedSocketFolders } from "../../server/sandbox/socket-folder.ts";
import { createHarness } from "../support/service/harness.ts";

test("socket folders of killed processes are removed, and those of running ones remain", async () => {
  const names = [`packages-${process.pid}-1-killed`, "egress-999999999-1-killed", "packages-other-program"];
  const [reusedPid = "", ended = "", other = ""] = names.map((name) => path.join(tmpdir(), name));
  await using stack = new AsyncDisposableStack();
  for (const folder of [reusedPid, ended, other]) {
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    await mkdir(folder);
  }
  await using own = await createSocketFolder("packages");
  await removeAbandonedSocketFolders();
  expect([reusedPid, ended, other, own.path].map((folder) => existsSync(folder))).toEqual([false, false, true, true]);
});

test("a start of the service removes the socket folders of killed processes", async () => {
  const abandoned = path.join(tmpdir(), `packages-999999999-1-${randomUUID()}`);
  await mkdir(abandoned);
  await using _ = await createHarness();
  expect(existsSync(abandoned)).toBe(false);
});

test("a socket folder is removed on disposal", async () => {
  const folder = await createSocketFolder("egress");
  await folder[Symbol.asyncDispose]();
  expect(existsSync(folder.path)).toBe(false);
});
