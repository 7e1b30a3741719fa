const MEBIBYTE = 1024 * 1024;

/** What a branch may hold to be checked out. */
export interface CheckoutCaps {
  /** All its files together. Also bounds the download. */
  totalBytes: number;
  /** One file. */
  fileBytes: number;
  /** Files and folders. */
  files: number;
  /** One path, from the root of the repository. */
  pathBytes: number;
  /** The folders of one path, with the file itself. */
  pathDepth: number;
  /** One file's or folder's own name; what keeps the files later takes no longer ones. */
  nameBytes: number;
  wallTimeMs: number;
}

export const DEFAULT_CAPS: CheckoutCaps = {
  totalBytes: 512 * MEBIBYTE,
  fileBytes: 100 * MEBIBYTE,
  files: 50_000,
  pathBytes: 1024,
  pathDepth: 64,
  nameBytes: 254,
  wallTimeMs: 120_000,
};

/** Why a branch is not checked out: the cap that it is past, or file names that are not UTF-8. */
export type CheckoutRefusal = keyof CheckoutCaps | "encoding";

/** What is wrong with the branch, for its owner. */
export function describeRefusal(reason: CheckoutRefusal, caps: CheckoutCaps): string {
  const limit = reason === "encoding" ? "" : caps[reason].toLocaleString("en");
  return {
    encoding: "The branch holds a file whose name is not UTF-8.",
    totalBytes: `The branch holds more than ${mebibytes(caps.totalBytes)}.`,
    fileBytes: `The branch holds a file of more than ${mebibytes(caps.fileBytes)}.`,
    files: `The branch holds more than ${limit} files and folders.`,
    pathBytes: `The branch holds a path of more than ${limit} bytes.`,
    nameBytes: `The branch holds a file or folder whose name has more than ${limit} bytes.`,
    pathDepth: `The branch holds a path of more than ${limit} nested folders.`,
    wallTimeMs: `The checkout took more than ${(caps.wallTimeMs / 1000).toLocaleString("en")} seconds.`,
  }[reason];
}

function mebibytes(bytes: number): string {
  return `${(bytes / MEBIBYTE).toLocaleString("en")} MiB`;
}
