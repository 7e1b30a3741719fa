/** Marks an app that is an environment of another one. */
export function EnvironmentBadge({ name }: { name: string }) {
  return (
    <span className="max-w-32 shrink-0 truncate rounded-full border border-line-strong px-2 py-0.5 text-xs font-medium">
      <span className="sr-only">Environment </span>
      {name}
    </span>
  );
}
