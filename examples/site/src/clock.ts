/** The time of day as its reader writes it, to the second. */
export function timeOfDay(date: Date): string {
  return date.toLocaleTimeString(undefined, { timeStyle: "medium" });
}
