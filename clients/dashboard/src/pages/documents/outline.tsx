export interface OutlineEntry {
  /** Of the element of the heading. */
  id: string;
  /** How many headings are above it in the outline. */
  rank: number;
  title: string;
}

/** The headings of a document, as links to them. It stays beside the text on a wide screen. */
export function Outline({ entries }: { entries: readonly OutlineEntry[] }) {
  return (
    <nav
      aria-label="Outline"
      // A scrollable element must be focusable for keyboard users.
      tabIndex={0}
      className="max-h-60 overflow-y-auto border-line text-sm max-lg:rounded-md max-lg:border max-lg:p-3 lg:sticky lg:top-4 lg:max-h-[calc(100dvh-6rem)] lg:self-start lg:border-l lg:pl-3"
    >
      <p className="pb-1 text-xs font-medium text-muted">Outline</p>
      <ul>
        {entries.map(({ id, rank, title }) => (
          <li key={id} style={{ paddingLeft: `${Math.min(rank, 4) * 0.75}rem` }}>
            <a href={`#${id}`} className="block py-0.5 wrap-anywhere text-muted hover:text-ink hover:underline">
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
