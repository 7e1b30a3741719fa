/** A number for the eye: whole, with thousands apart. */
export function round(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
