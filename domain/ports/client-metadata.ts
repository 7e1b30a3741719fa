/** What was found at the URL by which an OAuth client is known. All of it is the client's own: data, whatever it says. */
export interface ClientMetadataDocument {
  /** The members of the JSON object. */
  members: Readonly<Record<string, unknown>>;
  /** For how many seconds its server says that it stays right; `null` when it says nothing of that. */
  freshSeconds: number | null;
}

/** Reads the documents that OAuth clients publish about themselves. */
export interface ClientMetadataFetcher {
  /**
   * Reads a document from the internet at large, never from a network of the service's own, and follows no redirect.
   * Takes a few seconds at most. Safe to repeat.
   *
   * @param url - an https URL with a host name
   * @throws {UnreadableClientMetadata}
   */
  read(url: string): Promise<ClientMetadataDocument>;
}

/** There is no such document. `message` ends a sentence for whoever asked, and tells nothing about networks. */
export class UnreadableClientMetadata extends Error {
  override readonly name = "UnreadableDocument";
}
