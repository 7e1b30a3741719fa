/**
 * Notifies all listeners, in every process, that data of an organization may have changed. One feed covers the procedures
 * of apps, another the users who may call them. A notice only says that a listener should read again: it can arrive
 * twice, out of order, or get lost on the way to another process.
 */
export interface ChangeFeed {
  /**
   * Must be called after the change is committed. Listeners of this process have been called when it returns. Listeners
   * of other processes are called as soon as possible. It never fails, even when no other process can be reached.
   */
  announce(orgId: string): void;
  /**
   * @param listener - called for every notice, including those of this process; must not throw
   * @param onGap - called when notices of any organization may have been lost, for example after the connection was
   *   interrupted. A listener that depends on notices must then read everything again.
   * @returns a function that removes the listener
   */
  listen(listener: (orgId: string) => void, onGap?: () => void): () => void;
}
