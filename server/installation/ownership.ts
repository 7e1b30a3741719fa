import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { ConfigError } from "../config/config-error.ts";
import type { Installation } from "./installation.ts";

export const ownerSchema = z.object({ id: z.string(), epoch: z.int() });

/** The installation to which something outside of the data folder belongs. Its copies have the same id and an earlier epoch. */
type Owner = z.output<typeof ownerSchema>;

/** Where such a thing names its owner. */
export interface OwnerRecord {
  /** What belongs to the owner, such as `objects`. */
  things: string;
  /** The setting that leads to them, such as `S3_PREFIX`. */
  setting: string;
  read(): Promise<Owner | null>;
  write(owner: Owner): Promise<void>;
}

/** For how long a process may change things after it has read that they belong to its installation. */
const VERIFIED_MS = 10_000;
/** How often a process that changes nothing reads the owner. */
const CHECK_MS = 60_000;

/** Things outside of the data folder that this installation must not change. */
class NotOwner extends Error {
  override readonly name = "NotOwner";
}

/**
 * Makes things those of an installation, so that neither another installation nor an earlier epoch of this one starts on them and sweeps
 * them.
 *
 * @throws {ConfigError} when they belong to another one, or a restored copy has taken over
 */
async function claimOwnership(record: OwnerRecord, { id, epoch }: Owner): Promise<void> {
  const found = await readOwner(record, { id, epoch });
  if (found?.epoch === epoch) return;
  await record.write({ id, epoch });
  // Another installation may have written it in between.
  await readOwner(record, { id, epoch });
}

/**
 * Returns the owner of things; `null` if they have none.
 *
 * @throws {ConfigError} when they belong to another installation, or to a later epoch of this one
 */
export async function readOwner(record: OwnerRecord, { id, epoch }: Owner): Promise<Owner | null> {
  const { things, setting } = record;
  const found = await record.read();
  if (found !== null && found.id !== id)
    throw new ConfigError(`${setting}: the ${things} belong to another installation. Set ${setting} to another one.`);
  if (found !== null && found.epoch > epoch)
    throw new ConfigError(
      `${setting}: a restored copy of this installation has taken over the ${things}. Set ${setting} to another one, or do not start this installation any more.`,
    );
  return found;
}

/**
 * Makes the things those of a restored copy. When this returns, a living installation has stopped to change them.
 *
 * @returns the epoch of the copy, which is higher than all earlier ones
 * @throws {ConfigError} when they belong to another installation
 */
export async function takeOwnership(
  records: readonly OwnerRecord[],
  { id, epoch: earlier }: Owner,
  { waitMs = VERIFIED_MS }: { waitMs?: number } = {},
): Promise<number> {
  const found: (Owner | null)[] = [];
  for (const record of records) found.push(await readOwner(record, { id, epoch: Number.MAX_SAFE_INTEGER }));
  // Two copies of one backup can take over one after the other.
  const epoch = Math.max(earlier, ...found.map((owner) => owner?.epoch ?? 0)) + 1;
  for (const record of records) await claimOwnership(record, { id, epoch });
  if (found.some((owner) => owner !== null)) await sleep(waitMs);
  return epoch;
}

/** The right of this process to change things outside of the data folder. It ends when a restored copy takes over. */
export class Ownership implements Disposable {
  readonly #record: OwnerRecord;
  readonly #installation: Installation;
  readonly #onTakenOver: (error: Error) => void;
  readonly #timer: NodeJS.Timeout;
  #verifiedAt = -Infinity;
  #verification: Promise<void> | null = null;
  #lost: NotOwner | null = null;

  /** @param onTakenOver - called once; the process must then stop */
  private constructor(record: OwnerRecord, installation: Installation, onTakenOver: (error: Error) => void) {
    this.#record = record;
    this.#installation = installation;
    this.#onTakenOver = onTakenOver;
    if (installation.state !== "active")
      this.#lost = new NotOwner("This installation was restored from a backup, and has not taken over.");
    this.#timer = setInterval(() => void this.require().catch(() => undefined), CHECK_MS).unref();
  }

  /**
   * Claims the things for an active installation. One that was restored may read them only.
   *
   * @throws {ConfigError} as `claimOwnership` does
   */
  static async open(
    record: OwnerRecord,
    installation: Installation,
    onTakenOver: (error: Error) => void,
  ): Promise<Ownership> {
    if (installation.state === "active") await claimOwnership(record, installation);
    return new Ownership(record, installation, onTakenOver);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /**
   * Call it before every change.
   *
   * @throws {NotOwner} when this process must not change anything
   * @throws an error of the record, when it cannot be read
   */
  async require(): Promise<void> {
    if (this.#lost !== null) throw this.#lost;
    if (performance.now() - this.#verifiedAt < VERIFIED_MS) return;
    this.#verification ??= this.#verify().finally(() => (this.#verification = null));
    await this.#verification;
  }

  async #verify(): Promise<void> {
    // The time before the read: the owner may change while the response is on its way.
    const startedAt = performance.now();
    const owner = await this.#record.read();
    const { id, epoch } = this.#installation;
    if (owner?.id === id && owner.epoch === epoch) {
      this.#verifiedAt = startedAt;
      return;
    }
    const { things, setting } = this.#record;
    this.#lost = new NotOwner(`${setting}: another installation has taken over the ${things}.`);
    this.#onTakenOver(this.#lost);
    throw this.#lost;
  }
}
