/** A temporary file. Disposing of it removes it, and so does the end of the process. */
export interface SpoolFile extends AsyncDisposable {
  /** Adds text or bytes at the end. Returns when the file can take more. */
  append(content: string | Uint8Array): Promise<void>;
  /** Reads the whole file in chunks. */
  read(): AsyncIterable<Uint8Array>;
}

/** Keeps data that is too large for the memory until it is used. */
export interface Spool {
  /** Creates an empty file that only the caller can use. */
  open(): Promise<SpoolFile>;
}
