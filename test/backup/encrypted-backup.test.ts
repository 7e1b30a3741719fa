import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { S3ObjectStore } from "../../server/drivers/object-store/s3.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { type S3Server, startMiniflareS3 } from "../support/object-store/s3-servers.ts";
import { deployReady } from "../support/service/backup-apps.ts";
import { readInstallationFiles } from "../support/service/installation-files.ts";
import { runAdmin } from "../support/service/run-admin.ts";
import { createInstallation } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const TEXT = "a text that only this app has";

/** A stopped installation with one app. */
async function givenInstallation() {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  await (await Repository.create(folder.path, "acme/site")).commitFiles({ "index.html": TEXT });
  const installation = opening.use(await createInstallation());
  const service = await installation.start({ GIT_BASE_URL: pathToFileURL(folder.path).href });
  await deployReady(service.rest, "acme/site");
  await service.end("SIGTERM");
  const [keyFile, otherKeyFile] = [path.join(folder.path, "key"), path.join(folder.path, "other-key")];
  await writeFile(keyFile, `${"0123456789abcdef".repeat(4)}\n`);
  await writeFile(otherKeyFile, `${"fedcba9876543210".repeat(4)}\n`);
  const opened = opening.move();
  return {
    env: { DATA_DIR: installation.dataDirectory },
    ...{ keyFile, otherKeyFile },
    place: path.join(folder.path, "backups"),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

test("an encrypted backup contains no text of the installation, and restores only with its key", async () => {
  await using given = await givenInstallation();
  const { env, place, keyFile, otherKeyFile } = given;
  const made = await runAdmin({ ...env, BACKUP_KEY_FILE: keyFile }, "backup", place, "--json");
  expect([made.stderr, made.code]).toEqual(["", 0]);
  expect(JSON.parse(made.stdout)).toMatchObject({ is_encrypted: true, warnings: [] });
  expect((await stat(place)).mode & 0o777).toBe(0o700);
  const secret = (await readFile(path.join(env.DATA_DIR, "secrets/token-secret"), "utf8")).trim();
  for (const file of await readdir(place, { recursive: true, withFileTypes: true })) {
    const content = file.isFile() ? await readFile(path.join(file.parentPath, file.name), "latin1") : "";
    for (const text of [TEXT, secret, "token-secret", "backup_label"]) expect(content).not.toContain(text);
  }
  await using copy = await createInstallation();
  const copied = { DATA_DIR: copy.dataDirectory };
  const restore = (BACKUP_KEY_FILE: string) => runAdmin({ ...copied, BACKUP_KEY_FILE }, "restore", place);
  expect((await runAdmin(copied, "restore", place)).stderr).toContain("Set BACKUP_KEY_FILE");
  expect((await restore(otherKeyFile)).stderr).toContain("is not the one of the backups");
  expect((await restore(`${keyFile}-absent`)).stderr).toContain("cannot be read (ENOENT)");
  expect((await runAdmin({ ...env, BACKUP_KEY_FILE: otherKeyFile }, "backup", place)).code).toBe(1);
  expect((await runAdmin(env, "backup", place)).stderr).toContain("are encrypted");
  expect(await readdir(copy.dataDirectory)).toEqual([]);
  const restored = await restore(keyFile);
  expect([restored.stderr, restored.code]).toEqual(["", 0]);
  expect(await readInstallationFiles(copy.dataDirectory)).toEqual(await readInstallationFiles(env.DATA_DIR));
});

function settingsOf({ settings }: S3Server): Record<string, string> {
  return {
    BACKUP_S3_ENDPOINT: settings.endpoint,
    BACKUP_S3_ACCESS_KEY_ID: settings.accessKeyId,
    BACKUP_S3_SECRET_ACCESS_KEY: settings.secretAccessKey,
  };
}

test("a backup on an S3 server must be encrypted, is incremental, and keeps the number of backups that it should", async () => {
  await using s3 = await startMiniflareS3();
  await using given = await givenInstallation();
  const { env, keyFile } = given;
  const place = `s3://${s3.settings.bucket}/backups/production`;
  const settings = { ...env, ...settingsOf(s3) };
  expect((await runAdmin(env, "backup", place)).stderr).toContain("Set BACKUP_S3_ENDPOINT");
  expect((await runAdmin(settings, "backup", place)).stderr).toContain("must be encrypted. Set BACKUP_KEY_FILE");
  expect((await runAdmin(settings, "backup", "ftp://host/folder")).stderr).toContain("must be a folder, or s3://");
  const added: number[] = [];
  for (let count = 0; count < 3; count++) {
    const made = await runAdmin({ ...settings, BACKUP_KEY_FILE: keyFile }, "backup", place, "--keep", "2", "--json");
    expect([made.stderr, made.code]).toEqual(["", 0]);
    added.push((JSON.parse(made.stdout) as { added_bytes: number }).added_bytes);
  }
  // Autovacuum changes pages of the database meanwhile, more of them on a slow machine.
  expect(Math.max(...added.slice(1))).toBeLessThan((added[0] ?? 0) / 2);
  using store = await S3ObjectStore.open({ ...s3.settings, prefix: "backups/production/" });
  expect(await store.list("backups")).toHaveLength(2);
  await using copy = await createInstallation();
  const restored = await runAdmin(
    { ...settings, DATA_DIR: copy.dataDirectory, BACKUP_KEY_FILE: keyFile },
    ...["restore", place, "--take-over", "--json"],
  );
  expect([restored.stderr, restored.code]).toEqual(["", 0]);
  expect(JSON.parse(restored.stdout)).toMatchObject({ epoch: 2 });
  expect(await readInstallationFiles(copy.dataDirectory)).toEqual(await readInstallationFiles(env.DATA_DIR));
});
