/** The calendar month in UTC over which usage is counted, such as `2026-07`. */
export function periodOf(date: Date): string {
  return date.toISOString().slice(0, 7);
}
