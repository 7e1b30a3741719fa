import { UsageCounter } from "../../domain/usage/usage-counter.ts";
import type { Logger } from "../telemetry/logger.ts";
import { PeriodicTask } from "../worker/periodic-task.ts";
import type { DatabaseServices } from "./database.ts";

/** A crash loses at most the counts of this time. */
const FLUSH_PAUSE_MS = 10_000;

/** Opens the counter of requests and programs, which is written to the database every ten seconds and at the end. */
export function openUsageCounter(
  { db }: Pick<DatabaseServices, "db">,
  log: Logger,
  opening: AsyncDisposableStack,
): UsageCounter {
  const counter = new UsageCounter();
  const report = (err: unknown): void => log.warn({ err }, "usage counts could not be written; they are written later");
  opening.defer(() => counter.flush(db).catch(report));
  opening.use(new PeriodicTask({ run: () => counter.flush(db), pauseMs: FLUSH_PAUSE_MS, report }));
  return counter;
}
