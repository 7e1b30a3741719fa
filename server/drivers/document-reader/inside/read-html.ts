import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { type ReadLimits, TextCollector } from "./report.ts";

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Elements whose content is not text of the document. */
const LEFT_OUT = new Set(
  "audio button canvas datalist dialog embed form head iframe input map math meter nav noembed noframes noscript object progress script select style svg template textarea title video".split(
    " ",
  ),
);

/** Elements that begin and end a paragraph. */
const BLOCKS = new Set(
  "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer header hgroup hr html li main menu ol p section summary table tbody tfoot thead tr ul".split(
    " ",
  ),
);

/** Landmarks of a page that are not its content (WAI-ARIA 1.2). */
const LEFT_OUT_ROLES = new Set("banner complementary contentinfo navigation search".split(" "));

const HIDING_STYLE =
  /(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0*)?\s*(?:;|!|$)|font-size\s*:\s*0(?:px|pt|em|rem|%)?\s*(?:;|!|$))/i;

/**
 * Converts HTML to Markdown: headings, paragraphs, lists, tables and code, without what a page hides. Of a page that marks its
 * main content, only that is read, without menus, header and footer.
 */
export function readHtml(html: string, limits: ReadLimits): { title: string | null; text: string } {
  const document = parse(html);
  const writer = new MarkdownWriter(limits);
  const main = findMain(document);
  for (const node of main.some((element) => textOf(element).trim() !== "") ? main : document.childNodes)
    writer.visit(node);
  writer.endParagraph();
  return { title: findTitle(document) ?? writer.firstHeading, text: writer.finish() };
}

class MarkdownWriter {
  readonly #collector: TextCollector;
  #open = "";
  /** What begins the next paragraph, such as `## ` or `- `. */
  #prefix = "";
  /** For each open list, the number of its next item; `null` for a list without numbers. */
  readonly #lists: (number | null)[] = [];
  firstHeading: string | null = null;

  constructor(limits: ReadLimits) {
    this.#collector = new TextCollector(limits);
  }

  visit(node: Node): void {
    if (node.nodeName === "#text" && "value" in node) this.#open += node.value;
    else if ("tagName" in node && !isHidden(node)) this.#visitElement(node);
  }

  #visitElement(element: Element): void {
    const { tagName } = element;
    if (/^h[1-6]$/.test(tagName)) this.#writeHeading(element, Number(tagName[1]));
    else if (tagName === "pre") this.#writeCode(element);
    else if (tagName === "tr") this.#writeRow(element);
    else if (tagName === "ul" || tagName === "ol") this.#writeList(element);
    else if (tagName === "li") this.#writeItem(element);
    else if (tagName === "dd") this.#writeDefinition(element);
    else if (tagName === "br") this.#open += " ";
    else if (BLOCKS.has(tagName)) this.#writeBlock(element);
    else this.#visitChildren(element);
  }

  #visitChildren(element: Element): void {
    for (const child of element.childNodes) this.visit(child);
  }

  #writeBlock(element: Element): void {
    this.endParagraph();
    this.#visitChildren(element);
    this.endParagraph();
  }

  #writeHeading(element: Element, level: number): void {
    this.endParagraph();
    this.#visitChildren(element);
    const title = collapse(this.#open);
    if (title !== "") this.firstHeading ??= title;
    this.#prefix = `${"#".repeat(level)} `;
    this.endParagraph();
  }

  #writeList(element: Element): void {
    this.endParagraph();
    this.#lists.push(element.tagName === "ol" ? 1 : null);
    this.#visitChildren(element);
    this.endParagraph();
    this.#lists.pop();
  }

  #writeItem(element: Element): void {
    this.endParagraph();
    const number = this.#lists.at(-1) ?? null;
    if (number !== null) this.#lists[this.#lists.length - 1] = number + 1;
    const indent = "  ".repeat(Math.max(0, this.#lists.length - 1));
    this.#prefix = `${indent}${number === null ? "-" : `${number}.`} `;
    this.#visitChildren(element);
    this.endParagraph();
    this.#prefix = "";
  }

  #writeDefinition(element: Element): void {
    this.endParagraph();
    this.#prefix = ": ";
    this.#visitChildren(element);
    this.endParagraph();
    this.#prefix = "";
  }

  #writeRow(element: Element): void {
    this.endParagraph();
    const cells: string[] = [];
    for (const child of element.childNodes) {
      if (!("tagName" in child) || isHidden(child)) continue;
      cells.push(collapse(textOf(child)).replaceAll("|", "/"));
    }
    if (cells.some((cell) => cell !== "")) this.#collector.add(`| ${cells.join(" | ")} |`);
  }

  #writeCode(element: Element): void {
    this.endParagraph();
    const code = textOf(element).replace(/^\n/, "").trimEnd();
    if (code.trim() !== "") this.#collector.add(`\`\`\`\n${code.replaceAll("```", "'''")}\n\`\`\``);
  }

  endParagraph(): void {
    const text = collapse(this.#open);
    this.#open = "";
    if (text === "") return;
    this.#collector.add(this.#prefix + text);
    this.#prefix = "";
  }

  finish(): string {
    return this.#collector.finish();
  }
}

function isHidden({ tagName, attrs }: Element): boolean {
  if (LEFT_OUT.has(tagName)) return true;
  return attrs.some(
    ({ name, value }) =>
      name === "hidden" ||
      (name === "style" && HIDING_STYLE.test(value)) ||
      (name === "role" && LEFT_OUT_ROLES.has(readRole(value))),
  );
}

/** Finds the visible elements with the main content, but none inside another one. */
function findMain(node: Node): Element[] {
  if ("tagName" in node && isHidden(node)) return [];
  if ("tagName" in node && isMain(node)) return [node];
  return "childNodes" in node ? node.childNodes.flatMap(findMain) : [];
}

function isMain({ tagName, attrs }: Element): boolean {
  return tagName === "main" || attrs.some(({ name, value }) => name === "role" && readRole(value) === "main");
}

function readRole(value: string): string {
  return value.trim().toLowerCase();
}

/** Returns the text of an element, with spaces between blocks. */
function textOf(node: Node): string {
  if (node.nodeName === "#text" && "value" in node) return node.value;
  if (!("tagName" in node) || isHidden(node)) return "";
  if (node.tagName === "br") return "\n";
  const text = node.childNodes.map(textOf).join("");
  return BLOCKS.has(node.tagName) ? ` ${text} ` : text;
}

function collapse(text: string): string {
  return text
    .replaceAll(/[\s\u00a0]+/g, " ")
    .replaceAll("\u00ad", "")
    .trim();
}

function findTitle(document: DefaultTreeAdapterTypes.Document): string | null {
  const html = document.childNodes.find((node) => node.nodeName === "html");
  const head = html && "childNodes" in html ? html.childNodes.find((node) => node.nodeName === "head") : undefined;
  const title = head && "childNodes" in head ? head.childNodes.find((node) => node.nodeName === "title") : undefined;
  if (title === undefined || !("childNodes" in title)) return null;
  const text = collapse(title.childNodes.map((node) => ("value" in node ? node.value : "")).join(""));
  return text === "" ? null : text;
}
