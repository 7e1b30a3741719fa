/** The service cannot use its database. `message` says why and what to do, and contains no password. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}

/** @param failure - what cannot be used */
export function toDatabaseUnavailable(failure: string, cause: unknown): DatabaseUnavailable {
  // A name with several addresses fails with an error for each, and without a message.
  const { message, code } = cause as NodeJS.ErrnoException;
  return new DatabaseUnavailable(`${failure}: ${message === "" ? code : message}`, { cause });
}
