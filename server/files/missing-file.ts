/** For `catch`: returns `null` if a file or folder does not exist, and throws any other error. */
export function nullIfMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
  throw error;
}
