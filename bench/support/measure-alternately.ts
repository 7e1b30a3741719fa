import type { Pair } from "./statistics.ts";

interface Sides {
  ours(): Promise<number>;
  theirs(): Promise<number>;
}

/**
 * Measures both sides in turn, `count` times. Who goes first changes with every round, so that neither always works on
 * what the other one left behind.
 */
export async function interleave(count: number, { ours, theirs }: Sides): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let round = 0; round < count; round++) {
    if (round % 2 === 0) {
      const first = await ours();
      pairs.push({ ours: first, theirs: await theirs() });
    } else {
      const first = await theirs();
      pairs.push({ ours: await ours(), theirs: first });
    }
  }
  return pairs;
}
