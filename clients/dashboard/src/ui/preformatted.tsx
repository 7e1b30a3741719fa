/** A command or the output of one, with its line breaks. It scrolls if it is too large for the page. */
export function Preformatted({ label, text }: { label: string; text: string }) {
  return (
    <pre
      // A scrollable element must be focusable for keyboard users.
      tabIndex={0}
      role="group"
      aria-label={label}
      className="max-h-[70dvh] overflow-auto rounded-md bg-zinc-100 px-3 py-2 text-sm dark:bg-zinc-800"
    >
      {text}
    </pre>
  );
}
