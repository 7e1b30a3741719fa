import { astToJSX, type MarkdownToJSX, parser, RuleType, sanitizer, slugify } from "markdown-to-jsx/react";
import { type ReactNode, useMemo } from "react";
import { SafeLink } from "../../ui/safe-link.tsx";
import { Outline, type OutlineEntry } from "./outline.tsx";
import { QUOTE_BEGIN, QUOTE_END, signQuote, withoutSigns } from "./passage.ts";

/** A longer text is shown as it is: the browser would need seconds for its elements. */
const MAX_RENDERED = 400_000;

type Node = MarkdownToJSX.ASTNode;

interface Props {
  content: string;
  /** A literal part of the content to mark and show first; an empty text for none. */
  quote: string;
}

/**
 * The Markdown of a document, with an outline of its headings. The text is untrusted: HTML in it is shown as text, images
 * are not loaded, and links lead only to web and mail addresses.
 */
export function DocumentText({ content, quote }: Props) {
  const { outline, text } = useMemo(() => render(signQuote(content, quote)), [content, quote]);
  return (
    <div className={outline.length > 1 ? "grid gap-6 lg:grid-cols-[minmax(0,1fr)_14rem]" : ""}>
      {outline.length > 1 && <Outline entries={outline} />}
      <div className={`min-w-0 max-w-prose lg:order-first ${TEXT_CLASS}`}>{text}</div>
    </div>
  );
}

const TEXT_CLASS =
  "space-y-3 text-base wrap-anywhere [&_h3]:pt-2 [&_h3]:text-lg [&_h3]:font-semibold [&_:is(h4,h5,h6)]:pt-1 [&_:is(h4,h5,h6)]:font-semibold [&_:is(h3,h4,h5,h6)]:scroll-mt-16 [&_ul]:list-disc [&_ol]:list-decimal [&_:is(ul,ol)]:space-y-1 [&_:is(ul,ol)]:pl-6 [&_a]:text-link [&_a]:underline [&_blockquote]:border-l-2 [&_blockquote]:border-line-strong [&_blockquote]:pl-3 [&_blockquote]:text-muted [&_code]:rounded-sm [&_code]:bg-sunken [&_code]:font-mono [&_code]:text-sm [&_hr]:border-line [&_table]:text-sm [&_:is(th,td)]:border [&_:is(th,td)]:border-line [&_:is(th,td)]:px-2 [&_:is(th,td)]:py-1 [&_:is(th,td)]:text-left";

interface Rendered {
  outline: OutlineEntry[];
  text: ReactNode;
}

function render(signed: string): Rendered {
  const marker = new QuoteMarker();
  const plain = (): Rendered => ({
    outline: [],
    text: <div className="whitespace-pre-wrap">{marker.mark(signed)}</div>,
  });
  if (signed.length > MAX_RENDERED) return plain();
  try {
    const options: MarkdownToJSX.Options = {
      disableParsingRawHTML: true,
      preserveFrontmatter: true,
      wrapper: null,
      forceWrapper: true,
      // Beside the ids of the page.
      slugify: (input) => `section-${slugify(withoutSigns(input))}`,
    };
    const nodes = parser(signed, options);
    const outline = listHeadings(nodes);
    const ranks = new Map(outline.map(({ id, rank }) => [id, rank]));
    const renderRule: MarkdownToJSX.Options["renderRule"] = (next, node, renderChildren, state) =>
      renderNode(node, { next, state, marker, ranks, children: (nodes) => renderChildren(nodes, state) });
    return { outline, text: astToJSX(nodes, { ...options, renderRule }) };
  } catch {
    // A text that the renderer cannot take is still a text.
    return plain();
  }
}

/** The headings of a text. Their ranks begin at 0 and skip none, whatever levels the text uses. */
function listHeadings(nodes: readonly Node[]): OutlineEntry[] {
  const above: number[] = [];
  return nodes.flatMap((node) => {
    if (node.type !== RuleType.heading) return [];
    while ((above.at(-1) ?? 0) >= node.level) above.pop();
    above.push(node.level);
    return [{ id: node.id, rank: above.length - 1, title: withoutSigns(textOf(node.children)) }];
  });
}

function textOf(nodes: readonly Node[]): string {
  return nodes
    .map((node) => {
      if (node.type === RuleType.text || node.type === RuleType.codeInline) return node.text;
      return "children" in node ? textOf(node.children ?? []) : "";
    })
    .join("");
}

interface Context {
  next: () => ReactNode;
  state: MarkdownToJSX.State;
  marker: QuoteMarker;
  ranks: ReadonlyMap<string, number>;
  children: (nodes: Node[]) => ReactNode;
}

function renderNode(node: Node, { next, state: { key }, marker, ranks, children }: Context): ReactNode {
  switch (node.type) {
    case RuleType.text:
      return <span key={key}>{marker.mark(node.text)}</span>;
    case RuleType.codeInline:
      return <code key={key}>{marker.mark(node.text)}</code>;
    case RuleType.codeBlock:
    case RuleType.frontmatter:
      return <CodeText key={key}>{marker.mark(node.text)}</CodeText>;
    case RuleType.heading: {
      const Heading = (["h3", "h4", "h5", "h6"] as const)[ranks.get(node.id) ?? 0] ?? "h6";
      return (
        <Heading key={key} id={node.id} tabIndex={-1}>
          {children(node.children)}
        </Heading>
      );
    }
    case RuleType.image:
      return (
        <span key={key}>[Image{node.alt === undefined || node.alt === "" ? "" : `: ${withoutSigns(node.alt)}`}]</span>
      );
    case RuleType.link:
      return (
        <SafeLink key={key} href={node.target === null ? null : sanitizer(withoutSigns(node.target))}>
          {children(node.children)}
        </SafeLink>
      );
    case RuleType.gfmTask:
      return <span key={key}>{node.completed ? "☑" : "☐"} </span>;
    case RuleType.table:
      return (
        // A scrollable element must be focusable for keyboard users.
        <div key={key} role="group" aria-label="Table" tabIndex={0} className="overflow-x-auto">
          {next()}
        </div>
      );
    case RuleType.htmlBlock:
    case RuleType.htmlSelfClosing:
    case RuleType.htmlComment:
      return null;
    default:
      return next();
  }
}

function CodeText({ children }: { children: ReactNode }) {
  return (
    <pre role="group" aria-label="Code" tabIndex={0} className="overflow-x-auto rounded-md bg-sunken px-3 py-2 text-sm">
      {children}
    </pre>
  );
}

const AT_SIGNS = new RegExp(`(${QUOTE_BEGIN}|${QUOTE_END})`);

/** Marks what is between the signs of a quote, across the elements of a text. */
class QuoteMarker {
  #isQuote = false;
  #count = 0;

  /** Returns the next piece of the text. Pieces are passed in the order of the text. */
  mark(text: string): ReactNode {
    if (!this.#isQuote && !text.includes(QUOTE_BEGIN)) return text;
    return text.split(AT_SIGNS).map((part) => {
      if (part === QUOTE_BEGIN || part === QUOTE_END) this.#isQuote = part === QUOTE_BEGIN;
      else if (part !== "" && this.#isQuote) {
        const number = this.#count++;
        return <CitedText key={number} text={part} isFirst={number === 0} />;
      } else return part;
      return null;
    });
  }
}

function CitedText({ text, isFirst }: { text: string; isFirst: boolean }) {
  return (
    <mark
      tabIndex={isFirst ? -1 : undefined}
      ref={isFirst ? showElement : undefined}
      className="bg-mark text-ink outline-none"
    >
      {text}
    </mark>
  );
}

/** Moves the view and the focus to an element when it appears. */
function showElement(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "center" });
  element?.focus({ preventScroll: true });
}
