/** The calendar month in UTC over which usage is counted, such as `2026-07`. */
export function periodOf(date: Date): string {
  return date.toISOString().slice(0, 7);
}

/** The day in UTC over which usage is counted, such as `2026-07-31`. It begins with its month. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** The last days up to today, oldest first. */
export function lastDays(count: number): string[] {
  const today = Date.now();
  return Array.from({ length: count }, (_, at) => dayOf(new Date(today - (count - 1 - at) * 86_400_000)));
}
