const UNITS = ["bytes", "KB", "MB", "GB", "TB"] as const;

/** A number of bytes such as `1.5 MB`, in units of 1024. */
export function formatBytes(bytes: number): string {
  if (bytes === 1) return "1 byte";
  const exponent = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  const value = bytes / 1024 ** exponent;
  const digits = exponent === 0 || value >= 100 ? 0 : 1;
  return `${Number(value.toFixed(digits)).toLocaleString("en")} ${UNITS[exponent] ?? ""}`;
}

/** A number with its noun, such as `1 app` or `1,200 apps`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? singular : plural}`;
}

/** A period such as `5 minutes`. */
export function formatSeconds(seconds: number): string {
  if (seconds >= 86_400 && seconds % 86_400 === 0) return formatCount(seconds / 86_400, "day");
  if (seconds >= 3_600 && seconds % 3_600 === 0) return formatCount(seconds / 3_600, "hour");
  if (seconds >= 60 && seconds % 60 === 0) return formatCount(seconds / 60, "minute");
  return formatCount(seconds, "second");
}

/** A month such as `2026-07` as `July 2026`. */
export function formatMonth(period: string): string {
  const date = new Date(`${period}-01T00:00:00Z`);
  return date.toLocaleDateString("en", { month: "long", year: "numeric", timeZone: "UTC" });
}
