/** The place of content that is loading. Screen readers read it. */
export function Loading() {
  return (
    <div role="status" className="space-y-3 py-2 motion-safe:animate-pulse">
      <span className="sr-only">Loading…</span>
      {["w-full", "w-11/12", "w-2/3"].map((width) => (
        <div key={width} className={`h-4 rounded bg-selected ${width}`} />
      ))}
    </div>
  );
}
