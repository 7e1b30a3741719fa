import { setTimeout as delay } from "node:timers/promises";
import type { WorkspaceId } from "../../../domain/ports/agent-workspaces.ts";
import { type AcquiredLease, LEASE_SECONDS, type WorkspaceRecords } from "./workspace-records.ts";

const RENEWAL_MS = (LEASE_SECONDS * 1000) / 4;
/** How long a caller waits before it tries to get the lease again. */
const FIRST_WAIT_MS = 25;
const LAST_WAIT_MS = 400;

/**
 * The right of one program to replace the files of a workspace. It is renewed until it is disposed, which ends it. A renewal
 * that fails is repeated: the fencing token, not the renewal, protects the files.
 */
export class WorkspaceLease implements AsyncDisposable {
  readonly id: WorkspaceId;
  /** Of the files when the lease began. */
  readonly archiveKey: string | null;
  readonly fencingToken: number;
  readonly #records: WorkspaceRecords;
  readonly #timer: NodeJS.Timeout;
  #renewal: Promise<void> | null = null;

  /**
   * Waits until no other program has the lease.
   *
   * @throws the reason of the signal
   */
  static async acquire(records: WorkspaceRecords, id: WorkspaceId, signal: AbortSignal): Promise<WorkspaceLease> {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LAST_WAIT_MS)) {
      signal.throwIfAborted();
      const acquired = await records.acquire(id);
      if (acquired !== null) return new WorkspaceLease(records, id, acquired);
      await delay(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  private constructor(records: WorkspaceRecords, id: WorkspaceId, { fencingToken, archiveKey }: AcquiredLease) {
    this.#records = records;
    this.id = id;
    this.fencingToken = fencingToken;
    this.archiveKey = archiveKey;
    this.#timer = setInterval(() => {
      this.#renewal ??= this.#renew().finally(() => (this.#renewal = null));
    }, RENEWAL_MS);
  }

  commit(archive: { key: string; bytes: number } | null): Promise<"done" | "lost" | "removed"> {
    return this.#records.commit(this.id, this.fencingToken, archive);
  }

  async #renew(): Promise<void> {
    try {
      const isHeld = await this.#records.renew(this.id, this.fencingToken);
      if (!isHeld) clearInterval(this.#timer);
    } catch {
      // The next renewal tries again.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewal;
    // A lease that cannot be ended expires.
    await this.#records.release(this.id, this.fencingToken).catch(() => undefined);
  }
}
