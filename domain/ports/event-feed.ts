/** Something of an organization that changed. */
export interface OrganizationEvent {
  type: "app" | "deployment" | "push";
  /** JSON in one line. */
  data: string;
}

/** Tells what changed in organizations, whichever process changed it. */
export interface EventFeed {
  /**
   * @param listener - called after the change is committed, in the order of the commits; must not throw
   * @param onGap - called when events may have been lost, for example after the connection was interrupted
   * @returns a function that removes the listener
   */
  listen(listener: (orgId: string, event: OrganizationEvent) => void, onGap: () => void): () => void;
}
