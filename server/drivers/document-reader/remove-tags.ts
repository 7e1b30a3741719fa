/** A longer tag is text. */
const MAX_TAG_LENGTH = 1000;
const MAX_ROW_LENGTH = 10_000;

/** Elements of HTML in Markdown. Other names in angle brackets are text, such as `<your name>`; with a capital, components of MDX. */
const ELEMENTS = new Set(
  "a abbr article aside b blockquote br button caption center cite code col colgroup dd del details dfn div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hr i iframe img input ins kbd label legend li link main mark meta nav ol option p picture pre q s samp section select small source span strike strong style sub summary sup table tbody td tfoot th thead tr tt u ul var video".split(
    " ",
  ),
);
const BLOCKS = new Set("br dd details div dl dt h1 h2 h3 h4 h5 h6 hr li ol p section summary table tr ul".split(" "));

const TAG = /<(\/?)([A-Za-z][\w.]*)/y;

/** Removes the tags of HTML and MDX from Markdown outside of code. The rows of HTML tables become rows of Markdown. */
export function removeTags(text: string): string {
  let kept = "";
  let from = 0;
  for (let start = text.indexOf("<"); start >= 0; start = text.indexOf("<", Math.max(start + 1, from))) {
    const found = readRow(text, start) ?? readTag(text, start);
    if (found === null) continue;
    kept += text.slice(from, start) + found.remains;
    from = found.end;
  }
  return kept + text.slice(from);
}

interface Found {
  end: number;
  remains: string;
}

function readRow(text: string, start: number): Found | null {
  if (!/^<tr[\s>]/i.test(text.slice(start, start + 4))) return null;
  const row = text.slice(start, start + MAX_ROW_LENGTH);
  const end = /<\/tr>/i.exec(row);
  if (end === null) return null;
  const [, ...cells] = row.slice(0, end.index).split(/<t[dh](?=[\s>])[^<>]*>/i);
  if (cells.length === 0) return null;
  const texts = cells.map((cell) => removeTags(cell).replaceAll(/\s+/g, " ").replaceAll("|", "/").trim());
  return { end: start + end.index + end[0].length, remains: `| ${texts.join(" | ")} |` };
}

function readTag(text: string, start: number): Found | null {
  TAG.lastIndex = start;
  const [opening = "", slash = "", name = ""] = TAG.exec(text) ?? [];
  const isComponent = /^[A-Z]/.test(name) && /^[\s/>]/.test(text.charAt(start + opening.length));
  if (!isComponent && !ELEMENTS.has(name.toLowerCase())) return null;
  const end = findEnd(text, start + opening.length);
  if (end === null) return null;
  const isBlock = isComponent || BLOCKS.has(name.toLowerCase());
  const isFirst = slash === "" && /[^\n]$/.test(text.slice(Math.max(0, start - 1), start));
  return { end, remains: isBlock && isFirst ? "\n" : "" };
}

/** Returns where a tag ends. A `>` in quotes or braces does not end it. */
function findEnd(text: string, from: number): number | null {
  let quote = "";
  let depth = 0;
  for (let index = from; index < Math.min(text.length, from + MAX_TAG_LENGTH); index++) {
    const character = text.charAt(index);
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === "{") depth++;
    else if (character === "}") depth--;
    else if (character === "<" && depth === 0) return null;
    else if (character === ">" && depth <= 0) return index + 1;
  }
  return null;
}
