/** Says that content is loading. Screen readers read it. */
export function Loading() {
  return (
    <p role="status" className="text-sm text-zinc-600 dark:text-zinc-400">
      Loading…
    </p>
  );
}
