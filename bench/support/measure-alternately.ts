import type { Pair } from "./statistics.ts";

interface Measurements {
  service(): Promise<number>;
  baseline(): Promise<number>;
}

/**
 * Measures the service and the baseline in turn, `rounds` times. The order changes with every round, so that neither is
 * always measured right after the other.
 */
export async function measureAlternately(rounds: number, { service, baseline }: Measurements): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      const first = await service();
      pairs.push({ service: first, baseline: await baseline() });
    } else {
      const first = await baseline();
      pairs.push({ service: await service(), baseline: first });
    }
  }
  return pairs;
}

/** Returns how long `work` takes, in milliseconds. */
export async function measureTime(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
