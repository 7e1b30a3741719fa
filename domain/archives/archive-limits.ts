const MEBIBYTE = 1024 * 1024;

export const ARCHIVE_LIMITS = {
  /** One archive, as it is uploaded. */
  bytes: 100 * MEBIBYTE,
  /** All archives of an organization. */
  organizationBytes: 2048 * MEBIBYTE,
  /** How long an archive is kept that nothing needs, since it was uploaded or deployed last. */
  unusedHours: 24,
  /** The files that a deploy request contains. */
  inlineFiles: 200,
  /** All of them together, in UTF-8. */
  inlineBytes: MEBIBYTE,
  /** The path of one of them, in characters. */
  inlinePathLength: 1024,
} as const;

/** The digits of an id that stand for the commit of a deployment. */
const COMMIT_LENGTH = 40;

/** Returns the commit of deployments of an archive. */
export function commitOfArchive(archiveId: string): string {
  return archiveId.slice(0, COMMIT_LENGTH);
}
