import { spawn } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { BackupSchedule } from "../config/backup-settings.ts";
import { replaceFile } from "../files/durable-files.ts";
import { nullIfMissing } from "../files/missing-file.ts";
import { exitOf } from "../sandbox/start-process.ts";
import type { Logger } from "../telemetry/logger.ts";
import { PeriodicTask } from "../worker/periodic-task.ts";

const COMMAND = path.join(import.meta.dirname, "../admin/admin.ts");
const CHECK_PAUSE_MS = 60_000;
/** After a failure, or less for backups that are more frequent. */
const RETRY_MS = 60 * 60_000;
/** Other processes of the machine come first. */
const NICENESS = "10";

export interface ScheduledBackupsOptions {
  dataDirectory: string;
  schedule: BackupSchedule;
  log: Pick<Logger, "info" | "warn" | "error">;
}

/** Makes backups periodically, each in a process of its own. The time of the last one is in the data folder. */
export function startScheduledBackups({ dataDirectory, schedule, log }: ScheduledBackupsOptions): AsyncDisposable {
  const file = path.join(dataDirectory, "backup-work", "scheduled.json");
  let failedAt: number | null = null;
  const report = (err: unknown): void => log.error({ err }, "the scheduled backup failed; it is tried again later");
  const run = async (signal: AbortSignal): Promise<void> => {
    const dueAt = (await readLast(file)) + schedule.everyMs;
    const retryAt = failedAt === null ? 0 : failedAt + Math.min(RETRY_MS, schedule.everyMs);
    if (Date.now() < Math.max(dueAt, retryAt)) return;
    const startedAt = Date.now();
    failedAt = startedAt;
    const { warnings, ...backup } = await runBackup(schedule, signal);
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await replaceFile(file, JSON.stringify({ started_at: startedAt }));
    failedAt = null;
    if (warnings.length > 0) log.warn({ ...backup, warnings }, "a scheduled backup was made, with warnings");
    else log.info(backup, "a scheduled backup was made");
  };
  return new PeriodicTask({
    run: (signal) =>
      run(signal).catch((error: unknown) => {
        // The next start makes it.
        if (!signal.aborted) report(error);
      }),
    pauseMs: CHECK_PAUSE_MS,
    report,
  });
}

/** Returns 0 before the first backup. */
async function readLast(file: string): Promise<number> {
  const content = await readFile(file, "utf8").catch(nullIfMissing);
  return content === null ? 0 : (JSON.parse(content) as { started_at: number }).started_at;
}

async function runBackup({ place, keep }: BackupSchedule, signal: AbortSignal): Promise<{ warnings: string[] }> {
  const command = [process.execPath, COMMAND, "backup", place, "--keep", String(keep), "--json"];
  const child = spawn("nice", ["-n", NICENESS, ...command], { stdio: ["ignore", "pipe", "pipe"], signal });
  // An abort is reported by the exit too.
  child.on("error", () => undefined);
  const [output, errors, { code }] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)]);
  if (code !== 0) throw new Error(errors.trim() || "the process of the backup was ended");
  return JSON.parse(output) as { warnings: string[] };
}
