import { removeTags } from "./remove-tags.ts";

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Statements at the beginning of a line that MDX runs and does not show. */
const IMPORT = /^import\s(?:[\w*{}\s,$]{1,500}\sfrom\s+)?["'][^"']{1,500}["'];?\s*$/;
const EXPORT = /^export\s+(?:const|let|var|default|function|async)\b/;

/** What the generator of a site replaces, in a line or over several lines: [begin, end, what remains]. */
const BLOCKS = [
  ["<!--", "-->"],
  ["{/*", "*/}"],
  ["{{<", ">}}"],
  ["{{%", "%}}"],
  ["{%", "%}"],
] as const;

/** Values of the site, not places for words that a reader fills in, such as `{{ customer name }}`. */
const SITE_VALUE = /\{\{-?\s*(?:site|page|include|content|layout|ref|relref|absolute_url)\b[^{}\n]{0,300}\}\}/g;

/** Marks of lines, and what remains of them. */
const LINES: readonly (readonly [RegExp, string])[] = [
  // Notes of Docusaurus and VitePress, of MkDocs, and of GitHub.
  [/^\s*:{3,}\s*(?:\{[^{}]*\}|[\w-]+)?\s*(?:\[(.*)\]|(.*))$/, "$1$2"],
  [/^\s*(?:!!!|\?\?\?\+?)\s+[\w-]+(?:\s+"(.*)")?\s*$/, "$1"],
  [/^(\s*>)\s*\[![A-Z]+\]\s*$/, "$1"],
  // Tables of contents, and attributes of kramdown.
  [/^\s*(?:\[\[_?toc_?\]\]|\[toc\]|\{:[^{}]*\})\s*$/i, ""],
  [/^\s*[-*] (?:toc|this unordered seed list will be replaced.*)$/i, ""],
  [/^(#{1,6}\s.*?)\s*\{[:#][^{}]*\}\s*$/, "$1"],
];

/**
 * Removes from Markdown what the generator of a site replaces and its readers never see: comments, tags of Liquid, shortcodes of Hugo,
 * components and imports of MDX, and tags of HTML. Code stays as it is.
 */
export function cleanMarkdown(text: string): string {
  const parts: string[] = [];
  let open: string[] = [];
  let fence: string | null = null;
  const finish = () => {
    if (open.length > 0) parts.push(fence === null ? cleanText(open.join("\n")) : open.join("\n"));
    open = [];
  };
  for (const line of highlightsAsFences(text).split("\n")) {
    const marker = FENCE.exec(line)?.[1] ?? null;
    if (fence === null && marker !== null) {
      finish();
      fence = marker;
      open.push(line);
    } else if (fence !== null && marker?.startsWith(fence) === true) {
      open.push(line);
      finish();
      fence = null;
    } else open.push(line);
  }
  finish();
  return parts.join("\n").replaceAll(/\n(?:[ \t]*\n){2,}/g, "\n\n");
}

/** Jekyll and Hugo have blocks of code of their own. */
function highlightsAsFences(text: string): string {
  return text
    .replaceAll(/^[ \t]*\{%-?\s*highlight\s+([\w+-]{1,40})[^%\n]{0,200}%\}[ \t]*$/gm, "```$1")
    .replaceAll(/^[ \t]*\{%-?\s*endhighlight\s*-?%\}[ \t]*$/gm, "```")
    .replaceAll(/^[ \t]*\{\{[<%]\s*highlight\s+"?([\w+-]{1,40})"?[^{}\n]{0,200}[>%]\}\}[ \t]*$/gm, "```$1")
    .replaceAll(/^[ \t]*\{\{[<%]\s*\/\s*highlight\s*[>%]\}\}[ \t]*$/gm, "```");
}

function cleanText(text: string): string {
  const isModule = text.split("\n").some((line) => IMPORT.test(line));
  const lines = (isModule ? withoutStatements(text) : text).split("\n").map(cleanLine).join("\n");
  return outsideOfCode(lines, (part) => removeTags(removeBlocks(part).replaceAll(SITE_VALUE, "")));
}

/** A statement ends before the next empty line. */
function withoutStatements(text: string): string {
  let isStatement = false;
  return text
    .split("\n")
    .filter((line) => {
      if (line.trim() === "") isStatement = false;
      else if (EXPORT.test(line)) isStatement = true;
      return !isStatement && !IMPORT.test(line);
    })
    .join("\n");
}

function cleanLine(line: string): string {
  if (line.length > 1000) return line;
  const rule = LINES.find(([pattern]) => pattern.test(line));
  return rule === undefined ? line : line.replace(rule[0], rule[1]);
}

/** Applies a function to the text between pieces of inline code. */
function outsideOfCode(text: string, clean: (part: string) => string): string {
  let cleaned = "";
  let from = 0;
  for (const { 0: code, index } of text.matchAll(/(?<!`)(`{1,3})(?!`)[^`]+\1(?!`)/g)) {
    cleaned += clean(text.slice(from, index)) + code;
    from = index + code.length;
  }
  return cleaned + clean(text.slice(from));
}

function removeBlocks(text: string): string {
  return BLOCKS.reduce((rest, [begin, end]) => removeBetween(rest, begin, end), text);
}

function removeBetween(text: string, begin: string, end: string): string {
  let kept = "";
  let from = 0;
  for (let start = text.indexOf(begin); start >= 0; start = text.indexOf(begin, from)) {
    const until = text.indexOf(end, start + begin.length);
    if (until < 0) break;
    kept += text.slice(from, start);
    from = until + end.length;
  }
  return kept + text.slice(from);
}
