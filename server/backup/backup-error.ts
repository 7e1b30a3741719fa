/** A backup cannot be made, read or restored. `message` is for the operator. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}
