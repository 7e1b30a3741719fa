import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { AgentWorkspaces, WorkspaceId } from "../../domain/ports/agent-workspaces.ts";
import { createBackup } from "../../server/backup/create-backup.ts";
import { openTarget } from "../../server/backup/backup-target.ts";
import { restoreBackup } from "../../server/backup/restore-backup.ts";
import { createHarness } from "../support/service/harness.ts";
import { createTestDatabase, TEST_TOKEN_SECRET } from "../support/service/test-databases.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** An installation with one edge, and its objects in the data folder. */
const ALONE = { appsDatabaseUrl: null, s3: null, edgeCluster: null };
const BACKUP = { secret: null, keep: null, signal: new AbortController().signal };
const RESTORE = { secret: null, backup: undefined };

async function givenInstallation() {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const { databaseUrl, redisUrl } = opening.use(await createTestDatabase());
  const dataDirectory = path.join(folder.path, "data");
  const target = opening.use(
    await openTarget(path.join(folder.path, "place"), { s3: null, keyFile: null, schedule: null }),
  );
  const opened = opening.move();
  return {
    ...{ target, folder: folder.path, config: { databaseUrl, redisUrl, dataDirectory } },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function save(workspaces: AgentWorkspaces, id: WorkspaceId, folder: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "note"), text);
  const options = { readOnly: false, signal: BACKUP.signal };
  const { problem } = await workspaces.open(id, options, (opened) => opened.save(folder));
  expect(problem).toBeNull();
}

test("a backup beside programs that change their files has the files of every agent, each as after one program", async () => {
  await using given = await givenInstallation();
  const ids = Array.from({ length: 20 }, () => ({ orgId: randomUUID(), agentId: randomUUID() }));
  const texts = new Set<string>();
  {
    await using harness = await createHarness({ config: given.config });
    const { agentWorkspaces } = harness.service.parts.service;
    const change = (id: WorkspaceId, text: string) => {
      texts.add(`${id.agentId} ${text}`);
      return save(agentWorkspaces, id, path.join(given.folder, id.agentId), `${id.agentId} ${text}`);
    };
    for (const id of ids) await change(id, "0");
    const made = createBackup(harness.config, given.target, BACKUP);
    const ended = new AbortController();
    const changing = (async () => {
      for (let n = 1; !ended.signal.aborted; n++) await Promise.all(ids.map((id) => change(id, String(n))));
    })();
    await made.finally(() => ended.abort());
    await changing;
  }
  // The database is restored from a later moment than the files here, and from an earlier one in the test of the driver.
  const dataDirectory = path.join(given.folder, "restored");
  await using restored = await (async () => {
    const config = { ...given.config, dataDirectory, ...ALONE, tokenSecret: TEST_TOKEN_SECRET };
    expect((await restoreBackup(config, given.target, RESTORE)).warnings).toEqual([]);
    return createHarness({ config: { ...given.config, dataDirectory } });
  })();
  for (const id of ids) {
    const { agentWorkspaces } = restored.service.parts.service;
    const part = await agentWorkspaces.readFile(id, "note", { offset: 0, length: 100 });
    expect(texts).toContain(Buffer.from(part?.bytes ?? []).toString());
  }
});

test("a backup of an installation with DATABASE_URL needs the same TOKEN_SECRET, and one with a generated secret says where it is", async () => {
  await using given = await givenInstallation();
  const restore = (backup: string, tokenSecret: string, name: string) => {
    const config = { ...given.config, dataDirectory: path.join(given.folder, name), ...ALONE };
    return restoreBackup({ ...config, tokenSecret }, given.target, { secret: null, backup });
  };
  await using harness = await createHarness({ config: given.config });
  const { backup } = await createBackup(harness.config, given.target, BACKUP);
  await expect(restore(backup, "another".repeat(5), "another")).rejects.toThrow(
    "Set TOKEN_SECRET to the one of the installation",
  );
  expect((await restore(backup, TEST_TOKEN_SECRET, "same")).warnings).toEqual([]);
  // As an earlier version of the service has left it.
  const generated = path.join(given.config.dataDirectory, "secrets", "token-secret");
  await mkdir(path.dirname(generated));
  await writeFile(generated, `${"generated".repeat(4)}\n`);
  const earlier = await createBackup({ ...harness.config, tokenSecret: null }, given.target, BACKUP);
  const file = path.join(given.folder, "unknown", "secrets", "token-secret");
  expect((await restore(earlier.backup, "another".repeat(5), "unknown")).warnings).toEqual([
    expect.stringContaining(file),
  ]);
  expect((await restore(earlier.backup, "generated".repeat(4), "known")).warnings).toEqual([]);
});
