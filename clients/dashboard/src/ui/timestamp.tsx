/** A timestamp in the time zone of the user; the text `never` for `null`. */
export function Timestamp({ at, never = "never" }: { at: string | null; never?: string }) {
  if (at === null) return <>{never}</>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} className="whitespace-nowrap">
      {date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}
    </time>
  );
}
