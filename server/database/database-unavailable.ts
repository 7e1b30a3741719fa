/** The service cannot use its database. `message` says why and what to do, and contains no password. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}
