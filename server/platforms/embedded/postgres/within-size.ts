import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../../../domain/shared/errors.ts";

const MEASURE_MS = 500;

interface SizeLimit {
  maxBytes: number;
  /** Returns the bytes of the database. */
  measure(): Promise<number>;
  signal: AbortSignal;
}

/** Does work that ends with the signal, or when the database has become too large. */
export async function withinSize(
  { maxBytes, measure, signal }: SizeLimit,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const requireSize = async () => {
    if ((await measure()) > maxBytes) throw tooLarge(maxBytes);
  };
  const exceeded = new AbortController();
  const ended = new AbortController();
  const measuring = (async () => {
    while (!ended.signal.aborted) {
      await requireSize();
      await sleep(MEASURE_MS, null, { signal: ended.signal }).catch(() => null);
    }
  })().catch((error: unknown) => exceeded.abort(error));
  try {
    await work(AbortSignal.any([signal, exceeded.signal]));
  } finally {
    ended.abort();
    await measuring;
  }
  await requireSize();
}

function tooLarge(maxBytes: number): ServiceError {
  const limit = Math.floor(maxBytes / 1024 ** 2);
  return new ServiceError(
    "plan_limit",
    `The database becomes larger than the ${limit} MiB that the plan permits for an app.`,
  );
}
