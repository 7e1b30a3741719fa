import { findHeadings } from "./find-sections.ts";
import { findFrontMatter } from "./front-matter.ts";

/** A heading further below is not the title of the document. */
const MAX_START = 2000;
const MAX_LEVEL = 2;
/** The headings further below are not compared with the first one: finding all of a large text would block other requests. */
const MAX_CHARACTERS = 100_000;

/** Names of files that say nothing. Their folder says what they are about. */
const INDEX_NAME = /^(?:_?index|readme|default|home)$/i;

/**
 * Finds the title of Markdown: that of its front matter, or its first heading if it stands above all others at the beginning. The first of several
 * headings of one level is the title of a section, unless no text is below it, or it has the words of the name of the file.
 *
 * @param fileName - with folders; `null` for a text that was written
 */
export function findTitle(text: string, fileName: string | null): string | null {
  const frontMatter = findFrontMatter(text);
  if (frontMatter?.title) return frontMatter.title;
  const [first, ...others] = findHeadings(text.slice(0, MAX_CHARACTERS));
  if (first === undefined || first.level > MAX_LEVEL) return null;
  if (first.range.start - (frontMatter?.range.end ?? 0) > MAX_START) return null;
  const second = others[0];
  const isAbove = others.every(({ level }) => level > first.level);
  const isEmpty = second !== undefined && text.slice(first.range.end, second.range.start).trim() === "";
  if (isAbove || isEmpty || fileName === null || sharesWord(first.title, titleOfFile(fileName))) return first.title;
  return null;
}

/** Returns `Travel policy` for `hr/travel_policy.pdf`, and `Travel` for `hr/travel/README.md`. */
export function titleOfFile(path: string): string {
  const names = path.split("/");
  const name = (names.at(-1) ?? "").replace(/\.[^.]+$/, "");
  const telling = INDEX_NAME.test(name) ? (names.at(-2) ?? name) : name;
  const words = telling.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function sharesWord(a: string, b: string): boolean {
  return !wordsOf(a).isDisjointFrom(wordsOf(b));
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu));
}
