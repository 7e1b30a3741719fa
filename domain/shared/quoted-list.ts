/** Formats constants for a check constraint: `'queued', 'ready'`. */
export function quotedList(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}
