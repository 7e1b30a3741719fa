/** A file in an export. */
export interface ExportMember {
  /** Relative, with `/` between names; never with `..`. */
  path: string;
  /** In bytes. */
  size: number;
  content(): AsyncIterable<Uint8Array>;
}

/** The file format of exports: a tar archive, compressed by gzip. */
export interface ExportArchive {
  /** Writes the members in their order. */
  pack(members: Iterable<ExportMember>): AsyncIterable<Uint8Array>;
  /**
   * Reads an archive of a stranger, member by member. The content of a member must be read before the next one.
   *
   * @param maxBytes - of everything in it, unpacked
   * @throws {ServiceError} `invalid` for anything but regular files with safe paths, and for an archive that is too large or incomplete
   */
  read(archive: AsyncIterable<Uint8Array>, maxBytes: number): AsyncIterable<ExportMember>;
}
