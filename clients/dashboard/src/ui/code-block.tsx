import { CopyButton } from "./copy-button.tsx";
import { Preformatted } from "./preformatted.tsx";

/** A command or the content of a file, with a button that copies it. `label` names it for screen readers. */
export function CodeBlock({ label, text }: { label: string; text: string }) {
  return (
    <div className="flex items-start rounded-md bg-sunken">
      <Preformatted label={label} text={text} className="min-w-0 flex-1" />
      <CopyButton text={text} of={label} />
    </div>
  );
}
