export interface PublicFileRequest {
  /** What the host said of the version that is known, so that it need not send it again. */
  etag: string | null;
  lastModified: string | null;
  maxBytes: number;
  signal: AbortSignal;
}

/** A file of the public web. Its host has written all of it: untrusted data. */
export interface PublicFile {
  content: Uint8Array;
  /** The media type in lower case without parameters; `null` when the host states none. */
  mediaType: string | null;
  etag: string | null;
  lastModified: string | null;
}

/** Reads files of the public web. */
export interface PublicFiles {
  /**
   * Reads the file at a URL. It never connects to a private network, and follows a redirect only to another public https URL. It sends
   * no cookie and no credential, and is safe to repeat.
   *
   * @param url - an https URL with a host name
   * @returns `null` when the host says that the file has not changed
   * @throws {ServiceError} `invalid` with a sentence that says why the file cannot be read
   * @throws the reason of the signal when it is aborted
   */
  read(url: string, request: PublicFileRequest): Promise<PublicFile | null>;
}
