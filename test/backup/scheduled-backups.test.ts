import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../server/config.ts";
import { createInstallation } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";

async function backupsIn(place: string): Promise<string[]> {
  return readdir(path.join(place, "backups")).catch(() => []);
}

test("a service with BACKUP_PLACE makes a backup when one is due, and none that is not due", async () => {
  await using folder = await temporaryFolder();
  await using installation = await createInstallation();
  const place = path.join(folder.path, "backups");
  const env = { BACKUP_PLACE: place, BACKUP_KEEP: "1" };
  const first = await installation.start(env);
  await waitFor(() => expect(first.output()).toContain("a scheduled backup was made"));
  const [backup] = await backupsIn(place);
  expect(backup).toMatch(/^\d{8}T\d{6}Z-[0-9a-f]{6}$/);
  await first.end("SIGTERM");

  const second = await installation.start(env);
  expect((await second.rest.get("/v1/apps")).status).toBe(200);
  await second.end("SIGTERM");
  expect(await backupsIn(place)).toEqual([backup]);

  const file = path.join(installation.dataDirectory, "backup-work/scheduled.json");
  const { started_at: startedAt } = JSON.parse(await readFile(file, "utf8")) as { started_at: number };
  await writeFile(file, JSON.stringify({ started_at: startedAt - 25 * 60 * 60_000 }));
  const third = await installation.start(env);
  await waitFor(() => expect(third.output()).toContain("a scheduled backup was made"));
  const remaining = await backupsIn(place);
  expect([remaining.length, remaining[0] === backup]).toEqual([1, false]);
});

test("a scheduled backup that fails is in the log with its reason, and the service runs on", async () => {
  await using folder = await temporaryFolder();
  await using installation = await createInstallation();
  await writeFile(path.join(folder.path, "notes.txt"), "mine");
  const service = await installation.start({ BACKUP_PLACE: folder.path });
  await waitFor(() => expect(service.output()).toContain("the scheduled backup failed"));
  expect(service.output()).toContain("has other content (notes.txt)");
  expect((await service.rest.get("/v1/apps")).status).toBe(200);
});

test("settings of backups that do not fit together are rejected", () => {
  expect(readConfig({}).backup).toEqual({ keyFile: null, s3: null, schedule: null });
  const place = "s3://backups/production";
  expect(() => readConfig({ BACKUP_PLACE: place })).toThrow("BACKUP_KEY_FILE must be set too");
  expect(() => readConfig({ BACKUP_PLACE: place, BACKUP_KEY_FILE: "key" })).toThrow("BACKUP_S3_ENDPOINT must be set");
  expect(() => readConfig({ BACKUP_S3_ENDPOINT: "https://s3.example.com" })).toThrow(
    "BACKUP_S3_ACCESS_KEY_ID, BACKUP_S3_SECRET_ACCESS_KEY must be set too",
  );
  for (const hours of ["0", "721", "1.5", "-1", "daily"])
    expect(() => readConfig({ BACKUP_EVERY_HOURS: hours })).toThrow("BACKUP_EVERY_HOURS must be a whole number");
  expect(readConfig({ BACKUP_PLACE: "/backups", BACKUP_EVERY_HOURS: "6", BACKUP_KEEP: "3" }).backup.schedule).toEqual({
    place: "/backups",
    everyMs: 6 * 60 * 60_000,
    keep: 3,
  });
});
