/** Formats a number as an integer with thousands separators. */
export function formatInteger(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
