import { ServiceError } from "./errors.ts";

/** The longest query of every search, in UTF-16 code units. */
export const QUERY_CHARACTERS = 10_000;

/**
 * Returns a query as the database can read it: without NUL characters, unpaired surrogates, and spaces at its ends.
 *
 * @param field - the name of the query in the request
 * @throws {ServiceError} `invalid` for an empty or too long query
 */
export function readSearchQuery(field: string, query: string): string {
  const text = query
    .toWellFormed()
    .replaceAll(/[\0\ufffd]/g, " ")
    .trim();
  if (text !== "" && text.length <= QUERY_CHARACTERS) return text;
  throw new ServiceError(
    "invalid",
    `${field}: has ${text.length} characters, and 1 to ${QUERY_CHARACTERS} are allowed.`,
  );
}
