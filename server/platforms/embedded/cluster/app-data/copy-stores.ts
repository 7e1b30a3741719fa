import { bindingsOf, type DataWorker, type OpenedStores, type StoreEntry } from "./data-worker.ts";

interface CopyOptions {
  from: DataWorker;
  /** What its stores have is replaced. */
  to: DataWorker;
  stores: OpenedStores;
  /** Called before each write. */
  checkpoint: () => Promise<void>;
}

/** A value of a namespace has 25 MiB at most, and each is in memory of both workers. */
const AT_ONCE = 4;
/** Namespaces accept no earlier expiration. */
const MIN_SECONDS = 65;

/** Copies namespaces and buckets: each value with what belongs to it. @returns what is left out */
export async function copyStores({ stores, ...options }: CopyOptions): Promise<string[]> {
  const warnings: string[] = [];
  for (const [binding] of [...bindingsOf("KV", stores.keyValue), ...bindingsOf("R2", stores.objects)]) {
    await clearStore(options, binding);
    const left = { expiring: 0, locked: 0 };
    for await (const entries of options.from.list(binding)) await copyEntries(options, binding, entries, left);
    if (left.expiring > 0)
      warnings.push(`${left.expiring} values of a namespace expire within a minute. They are left out.`);
    if (left.locked > 0)
      warnings.push(
        `${left.locked} objects of a bucket are encrypted with keys that only the app has. They are left out.`,
      );
  }
  return warnings;
}

type StoreOptions = Omit<CopyOptions, "stores">;

async function clearStore({ to, checkpoint }: StoreOptions, binding: string): Promise<void> {
  for await (const entries of to.list(binding)) {
    await checkpoint();
    await to.remove(
      binding,
      entries.map(({ key }) => key),
    );
  }
}

async function copyEntries(
  { from, to, checkpoint }: StoreOptions,
  binding: string,
  entries: readonly StoreEntry[],
  left: { expiring: number; locked: number },
): Promise<void> {
  const earliest = Date.now() / 1000 + MIN_SECONDS;
  const copied = entries.filter(({ expiration, isLocked }) => {
    if (expiration !== undefined && expiration < earliest) left.expiring++;
    else if (isLocked === true) left.locked++;
    else return true;
    return false;
  });
  for (let at = 0; at < copied.length; at += AT_ONCE) {
    await checkpoint();
    await Promise.all(
      copied.slice(at, at + AT_ONCE).map(async (listed) => {
        const value = await from.read(binding, listed);
        if (value !== null) await to.write(binding, value.entry, value);
      }),
    );
  }
}
