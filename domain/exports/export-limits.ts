const MEBIBYTE = 1024 ** 2;

export const EXPORT_LIMITS = {
  /** An export, as it is uploaded. */
  bytes: 2048 * MEBIBYTE,
  /** Its manifest. */
  manifestBytes: 16 * MEBIBYTE,
  /** The files of its data. */
  files: 50_000,
} as const;
