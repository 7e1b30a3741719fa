/** The installed dependencies that builds have stored for later builds of the same organization. */
export interface DependencyCache {
  /** Removes everything that builds of an organization have stored. Succeeds when there is nothing. */
  remove(organizationId: string): Promise<void>;
  /** Lists the organizations for which something is stored. */
  list(): Promise<string[]>;
}
