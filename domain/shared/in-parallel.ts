/** Runs `work` for all items, for up to `concurrency` of them at the same time. Stops at the first error. */
export async function inParallel<T>(
  items: AsyncIterable<T> | Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const remaining = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const failures: unknown[] = [];
  const workOnNext = async (): Promise<void> => {
    while (failures.length === 0) {
      const next = await remaining.next();
      if (next.done) return;
      await work(next.value);
    }
  };
  const workOrStop = () => workOnNext().catch((error: unknown) => void failures.push(error));
  await Promise.all(Array.from({ length: concurrency }, workOrStop));
  if (failures.length > 0) throw failures[0];
}
