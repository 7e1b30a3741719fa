import { DATABASE_LIMITS, type DatabaseValue } from "../../../../domain/ports/app-databases.ts";

const { valueBytes } = DATABASE_LIMITS;

/** The ids of types (https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat). */
const BOOLEAN = 16;
const BYTEA = 17;
const NUMBERS = [20, 21, 23, 26, 700, 701];

/** Converts a value as PostgreSQL sends it in text format. */
export function toJsonValue(type: number, value: string): DatabaseValue {
  if (type === BOOLEAN) return value === "t";
  if (NUMBERS.includes(type)) return toNumber(value);
  if (type === BYTEA && value.startsWith(String.raw`\x`)) {
    const base64 = Buffer.from(value.slice(2, 2 + 2 * valueBytes), "hex").toString("base64");
    return { base64, bytes: (value.length - 2) / 2 };
  }
  const bytes = Buffer.byteLength(value);
  return bytes <= valueBytes ? value : { text: value.slice(0, valueBytes / 4).toWellFormed(), bytes };
}

/** A text if the number would change. */
function toNumber(value: string): number | string {
  const number = Number(value);
  const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  return isExact ? number : value;
}
