import { useSyncExternalStore } from "react";

/** A timestamp relative to now, such as `3 min ago`, with the exact one as its title; the text `never` for `null`. */
export function Timestamp({ at, never = "never" }: { at: string | null; never?: string }) {
  const now = useNow();
  if (at === null) return <>{never}</>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={exact.format(date)} className="whitespace-nowrap">
      {formatRelative(date, now)}
    </time>
  );
}

const MINUTE_MS = 60_000;
const UNITS = [
  ["minute", MINUTE_MS],
  ["hour", 60 * MINUTE_MS],
  ["day", 24 * 60 * MINUTE_MS],
] as const;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;
// A formatter takes longer to create than to use, and a list has many timestamps.
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });

/** Beyond a week, the date says more than a number of days. */
function formatRelative(date: Date, now: number): string {
  const difference = date.getTime() - now;
  const distance = Math.abs(difference);
  if (distance < MINUTE_MS) return "now";
  if (distance >= WEEK_MS) return day.format(date);
  const [unit, size] = UNITS.findLast(([, milliseconds]) => distance >= milliseconds) ?? UNITS[0];
  return relative.format(Math.trunc(difference / size), unit);
}

/** A duration as `1 min 5 s`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return milliseconds < 9_950 ? `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s` : `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

let current = Date.now();
const readers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The current time, which changes twice a minute. All readers share one timer. */
function useNow(): number {
  return useSyncExternalStore(subscribe, () => current);
}

function subscribe(read: () => void): () => void {
  readers.add(read);
  timer ??= setInterval(() => {
    current = Date.now();
    for (const reader of readers) reader();
  }, MINUTE_MS / 2);
  return () => {
    readers.delete(read);
    if (readers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
