/** Returns `otherwise` if the file does not exist, or does not exist any more. */
export function ifExists<T>(otherwise: T, access: () => T): T {
  try {
    return access();
  } catch (error) {
    // ENODEV: the file was opened before its group was removed.
    if (["ENOENT", "ENODEV"].includes((error as NodeJS.ErrnoException).code ?? "")) return otherwise;
    throw error;
  }
}
