/** The limits of an archive. */
export interface ArchiveLimits {
  /** All files together, unpacked. */
  totalBytes: number;
  /** One file. */
  fileBytes: number;
  /** Entries: files, folders and links. Folders that have no entry count too. */
  files: number;
  /** One path, from the root of the archive. */
  pathBytes: number;
  /** The number of segments of a path, including the file. */
  pathDepth: number;
  /** The name of one file or folder. */
  nameBytes: number;
}

/** Why an archive cannot be unpacked. */
export type ArchiveViolation =
  | "absolute"
  | "below-file"
  | "control-characters"
  | "damaged"
  | "device"
  | "duplicate"
  | "empty"
  | "encoding"
  | "hard-link"
  | "incomplete"
  | "link-target"
  | "not-tar"
  | "parent"
  | "unpacks"
  | "zip"
  | keyof ArchiveLimits;

/** What the program that reads archives prints, as JSON. */
export type ArchiveReport =
  | { outcome: "done"; fileCount: number; bytes: number; leftOut: number }
  | { outcome: "refused"; reason: ArchiveViolation; entry: string | null };

/** Of a path in a report. An archive can have much longer ones. */
const MAX_ENTRY_LENGTH = 1000;

/** An entry, or the whole archive, breaks a rule. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly reason: ArchiveViolation;
  readonly entry: string | null;

  constructor(reason: ArchiveViolation, entry: string | null = null) {
    super(reason);
    this.reason = reason;
    this.entry = entry?.slice(-MAX_ENTRY_LENGTH) ?? null;
  }
}
