/**
 * Notifies all listeners, in every process, that data may have changed. A notice contains only an id, and tells listeners
 * to read the data again. It can arrive twice or out of order, or get lost on the way to another process. The service has
 * four feeds: for apps and their procedures (ids of organizations), for access rights (ids of organizations and users),
 * for the logs of deployments (ids of deployments), and for the connections to gateways of agents (ids of servers). What
 * changed, for those who follow an organization, is in `EventFeed`.
 */
export interface ChangeFeed {
  /**
   * Must be called after the change is committed. Listeners of this process have been called when it returns. Listeners
   * of other processes are called as soon as possible. It never fails, even when no other process can be reached.
   */
  announce(id: string): void;
  /**
   * @param listener - called with the id of every notice, including those of this process; must not throw
   * @param onGap - called when notices may have been lost, for example after the connection was interrupted. A listener
   *   that depends on notices must then read everything again.
   * @returns a function that removes the listener
   */
  listen(listener: (id: string) => void, onGap?: () => void): () => void;
}
