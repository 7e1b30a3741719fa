/** A moment in the reader's own zone; `never` when there was none. */
export function When({ at, never = "never" }: { at: string | null; never?: string }) {
  if (at === null) return <>{never}</>;
  const moment = new Date(at);
  return (
    <time dateTime={moment.toISOString()} className="whitespace-nowrap">
      {moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}
    </time>
  );
}
