import type { Db } from "../../domain/database-types.ts";
import type { Embeddings } from "../../domain/ports/embeddings.ts";
import { embedScopes } from "../../domain/search/embed-scopes.ts";
import type { TextReaders } from "../../domain/search/update-scopes.ts";
import { backOffMs } from "../../domain/shared/back-off.ts";
import type { Logger } from "../telemetry/logger.ts";
import { PeriodicTask } from "./periodic-task.ts";

interface EmbeddingTaskOptions {
  db: Db;
  embeddings: Embeddings;
  readers: TextReaders;
  log: Logger;
}

const PAUSE_MS = 1000;
const BACK_OFF = { first: 1000, max: 5 * 60_000 };

/**
 * Embeds texts in the background, soon after they are added. While the endpoint fails, the next attempt is delayed: first by a
 * second, and each time twice as long, up to five minutes.
 */
export function startEmbeddingTask({ log, ...deps }: EmbeddingTaskOptions): PeriodicTask {
  let failures = 0;
  let nextAttemptAt = 0;
  const reportRejected = (text: object): void =>
    log.warn(text, "the embeddings endpoint does not accept a text; it is found by its words only");
  return new PeriodicTask({
    async run(signal) {
      if (performance.now() < nextAttemptAt) return;
      const count = await embedScopes({ ...deps, reportRejected }, signal);
      if (count > 0 || failures > 0) log.info({ count }, "texts were embedded");
      failures = 0;
    },
    pauseMs: PAUSE_MS,
    report(error) {
      const delayMs = backOffMs(failures, BACK_OFF);
      failures += 1;
      nextAttemptAt = performance.now() + delayMs;
      // Only the message: an error of the database could contain texts.
      const problem = error instanceof Error ? error.message : null;
      log.warn({ problem, retrySeconds: delayMs / 1000 }, "texts could not be embedded; they are found by their words");
    },
  });
}
