const MEBIBYTE = 1024 * 1024;

/** The limits of a checkout. */
export interface CheckoutLimits {
  /** All files together. Also limits the download. */
  totalBytes: number;
  /** One file. */
  fileBytes: number;
  /** Files and folders. */
  files: number;
  /** One path, from the root of the repository. */
  pathBytes: number;
  /** The number of segments of a path, including the file. */
  pathDepth: number;
  /** The name of one file or folder. The object store that keeps the sources accepts no longer names. */
  nameBytes: number;
  wallTimeMs: number;
}

export const DEFAULT_LIMITS: CheckoutLimits = {
  totalBytes: 512 * MEBIBYTE,
  fileBytes: 100 * MEBIBYTE,
  files: 50_000,
  pathBytes: 1024,
  pathDepth: 64,
  nameBytes: 254,
  wallTimeMs: 120_000,
};

/** Why a branch cannot be checked out: the limit that it exceeds, or a file name that is not UTF-8. */
export type CheckoutViolation = keyof CheckoutLimits | "encoding";

/** Describes the violation to the owner of the app. */
export function describeViolation(violation: CheckoutViolation, limits: CheckoutLimits): string {
  const limit = violation === "encoding" ? "" : limits[violation].toLocaleString("en");
  return {
    encoding: "The branch contains a file whose name is not UTF-8.",
    totalBytes: `The files of the branch are larger than ${formatMebibytes(limits.totalBytes)} in total.`,
    fileBytes: `The branch contains a file larger than ${formatMebibytes(limits.fileBytes)}.`,
    files: `The branch contains more than ${limit} files and folders.`,
    pathBytes: `The branch contains a path longer than ${limit} bytes.`,
    nameBytes: `The branch contains a file or folder whose name is longer than ${limit} bytes.`,
    pathDepth: `The branch contains a path with more than ${limit} nested folders.`,
    wallTimeMs: `The checkout took longer than ${(limits.wallTimeMs / 1000).toLocaleString("en")} seconds.`,
  }[violation];
}

function formatMebibytes(bytes: number): string {
  return `${(bytes / MEBIBYTE).toLocaleString("en")} MiB`;
}
