import { ServiceError } from "../shared/errors.ts";

export interface TimeRange {
  /** RFC 3339, inclusive. */
  from?: string | undefined;
  /** RFC 3339, exclusive. */
  to?: string | undefined;
}

/**
 * Returns the range in UTC.
 *
 * @throws {ServiceError} `invalid` for a time that PostgreSQL does not accept, and for an empty range
 */
export function validateTimeRange({ from, to }: TimeRange): TimeRange {
  const range = { from: toUtc("from", from), to: toUtc("to", to) };
  if (range.from !== undefined && range.to !== undefined && range.from >= range.to)
    throw new ServiceError("invalid", "from: must be earlier than to.");
  return range;
}

/** Years before 0 and after 9999 have a sign, which sorts before all digits. */
const YEAR_1 = "0001-";

function toUtc(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  const utc = Number.isNaN(time.getTime()) ? "" : time.toISOString();
  if (utc < YEAR_1) throw new ServiceError("invalid", `${name}: must be a time in the years 1 to 9999.`);
  return utc;
}
