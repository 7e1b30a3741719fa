/** The document at the URL that identifies an OAuth client. The client wrote it: all of it is untrusted data. */
export interface ClientMetadataDocument {
  /** The members of the JSON object. */
  members: Readonly<Record<string, unknown>>;
  /** How long the document stays fresh, in whole seconds, by the headers of its response. `null` when they do not say. */
  freshSeconds: number | null;
}

/** Fetches the metadata documents that OAuth clients publish about themselves. */
export interface ClientMetadataFetcher {
  /**
   * Fetches a document from the public internet. It never connects to a private network and follows no redirect. It
   * takes a few seconds at most and is safe to repeat.
   *
   * @param url - an https URL with a host name
   * @throws {UnreadableClientMetadata}
   */
  fetch(url: string): Promise<ClientMetadataDocument>;
  /** Whether this machine can reach hosts of the public internet, as `fetch` does. It takes a few seconds at most. */
  canReachInternet(signal: AbortSignal): Promise<boolean>;
}

/**
 * The document cannot be read. The message is a clause that completes "the document cannot be read: …". It reveals
 * nothing about the network of the service.
 */
export class UnreadableClientMetadata extends Error {
  override readonly name = "UnreadableClientMetadata";
}
