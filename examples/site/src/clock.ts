/** Formats the time of day, with seconds, in the reader's locale. */
export function timeOfDay(date: Date): string {
  return date.toLocaleTimeString(undefined, { timeStyle: "medium" });
}
