import { setTimeout as delay } from "node:timers/promises";

/** In milliseconds. */
export interface BackOff {
  first: number;
  max: number;
}

/** The pause after a number of earlier failures: `first`, then twice as long after each failure, up to `max`. In milliseconds. */
export function backOffMs(failures: number, { first, max }: BackOff): number {
  return Math.min(max, first * 2 ** failures);
}

const POLL: BackOff = { first: 10, max: 250 };

/**
 * Reads a state until it is final or the deadline is over, with longer and longer pauses.
 *
 * @param deadline - as in `Date.now()`
 * @param pauses - between two reads
 * @returns the last state, which is not final after the deadline
 */
export async function pollUntil<T>(
  read: () => Promise<T>,
  isFinal: (state: T) => boolean,
  deadline: number,
  pauses = POLL,
): Promise<T> {
  for (let reads = 0; ; reads += 1) {
    const state = await read();
    if (isFinal(state) || Date.now() >= deadline) return state;
    await delay(backOffMs(reads, pauses));
  }
}
