interface Props {
  label: string;
  text: string;
  className?: string;
}

/** A command or the output of one, with its line breaks. It scrolls if it is too large for the page. */
export function Preformatted({ label, text, className = "" }: Props) {
  return (
    <pre
      // A scrollable element must be focusable for keyboard users.
      tabIndex={0}
      role="group"
      aria-label={label}
      className={`max-h-[70dvh] overflow-auto rounded-md bg-sunken px-3 py-2 text-sm ${className}`}
    >
      {text}
    </pre>
  );
}
