/**
 * Tells everybody who listens, in every process, that something of an organization may have changed: on one feed what
 * its apps offer, on another who may call it. A notice is a hint to look again and carries nothing else: it may come
 * twice, out of order, or get lost on the way to another process.
 */
export interface ChangeFeed {
  /**
   * Called after the change is committed. The listeners of this process have been told when it returns; those of others
   * are as soon as may be. It does not fail when nobody can be reached.
   */
  announce(orgId: string): void;
  /**
   * @param listener - called for every notice, those of this process included; must not throw
   * @param onGap - called when this process hears again after a time in which notices of any organization may have been
   *   lost, as while its connection was; who relies on notices should then look at everything again
   * @returns stops listening
   */
  listen(listener: (orgId: string) => void, onGap?: () => void): () => void;
}
