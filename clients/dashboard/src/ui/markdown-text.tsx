import { Markdown } from "markdown-to-jsx/react";
import type { ReactNode } from "react";
import { CopyButton } from "./copy-button.tsx";
import { SafeLink } from "./safe-link.tsx";

const OPTIONS = {
  // HTML in the text is shown as text.
  disableParsingRawHTML: true,
  forceBlock: true,
  overrides: {
    a: SafeLink,
    img: ImageLink,
    pre: CodeBlock,
    input: TaskMark,
    table: ScrollableTable,
    // The headings of a text are not headings of the page.
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, Heading])),
  },
} as const;

/** Markdown that the project did not write. It becomes no HTML of its own, and loads nothing. */
export function MarkdownText({ text }: { text: string }) {
  return (
    <div className="space-y-2 wrap-anywhere [&_blockquote]:border-l-2 [&_blockquote]:border-line-strong [&_blockquote]:pl-3 [&_code]:font-mono [&_:not(pre)>code]:rounded [&_:not(pre)>code]:bg-sunken [&_:not(pre)>code]:px-1 [&_ol]:list-decimal [&_ol]:pl-6 [&_td]:border [&_td]:border-line [&_td]:px-2 [&_td]:py-1 [&_th]:border [&_th]:border-line [&_th]:px-2 [&_th]:py-1 [&_ul]:list-disc [&_ul]:pl-6 [&>div]:space-y-2">
      <Markdown options={OPTIONS}>{text}</Markdown>
    </div>
  );
}

function Heading({ children }: { children?: ReactNode }) {
  return <p className="font-semibold">{children}</p>;
}

/** An image of another site would tell it who reads the text. */
function ImageLink({ src, alt }: { src?: string; alt?: string }) {
  return <SafeLink href={src}>Image: {alt === undefined || alt === "" ? src : alt}</SafeLink>;
}

function TaskMark({ checked }: { checked?: boolean }) {
  return <span>{checked === true ? "[x]" : "[ ]"}</span>;
}

function ScrollableTable({ children }: { children?: ReactNode }) {
  return (
    <div className="overflow-x-auto" role="group" aria-label="Table" tabIndex={0}>
      <table className="text-sm">{children}</table>
    </div>
  );
}

function CodeBlock({ children }: { children?: ReactNode }) {
  return (
    <div className="relative">
      <pre
        tabIndex={0}
        role="group"
        aria-label="Code"
        className="overflow-x-auto rounded-md border border-line bg-sunken py-2 pr-12 pl-3 text-sm"
      >
        {children}
      </pre>
      <div className="absolute top-1 right-1">
        <CopyButton text={readText(children)} of="code" />
      </div>
    </div>
  );
}

/** The text of rendered children. */
function readText(node: ReactNode): string {
  if (typeof node === "string" || typeof node === "number") return String(node);
  if (Array.isArray(node)) return node.map((child: ReactNode) => readText(child)).join("");
  if (typeof node !== "object" || node === null || !("props" in node)) return "";
  return readText((node.props as { children?: ReactNode }).children);
}
