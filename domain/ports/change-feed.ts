/** Tells everybody who listens, in every process, that what an organization's apps offer may have changed. */
export interface ChangeFeed {
  /** Called after the change is committed. Nobody waits for it, and a message may get lost: it is a hint to look again. */
  announce(orgId: string): void;
  /** @returns stops listening */
  listen(listener: (orgId: string) => void): () => void;
}
