import { expect, test } from "vitest";
import { toAnswerSentence } from "../../../domain/knowledge/markdown-to-answer-sentence.ts";

test.each([
  ["of several lines", "One\n  two\tthree.", "One two three"],
  ["with spaces around it", "  One.  ", "One"],
  ["with a link", "See [the page](https://example.com/a) now.", "See the page now"],
  ["with two links", "[a](b) and [c](d)", "a and c"],
  ["with an image", "![A plan](plan.png) is here.", "A plan is here"],
  ["with brackets beside parentheses", "[a] (b) and [c](d e)", "[a] (b) and [c](d e)"],
  ["with bold text", "A **very bold** word and **another one**.", "A very bold word and another one"],
  ["with a bold letter", "**A** is first", "A is first"],
  ["with underlined text and code", "__Run__ `npm ci` now", "Run npm ci now"],
  ["with single marks", "2 ** 3 and a `quote", "2 ** 3 and a `quote"],
  ["with different marks", "**a__ and `b**", "a__ and `b"],
  ["with spaces inside of the marks", "a ** b ** c", "a ** b ** c"],
  ["with a footnote", "Nine years.[12]", "Nine years"],
  ["with several footnotes", "Nine years.[1][1234]", "Nine years"],
  ["with a footnote after a quotation", 'He said "no."[3]', 'He said "no."'],
  ["with a footnote after a question", "Why not?[3]", "Why not?"],
  ["with a footnote without a point", "Nine years [3]", "Nine years (3)"],
  ["with a footnote in the middle", "Nine years.[1] Then none.", "Nine years.(1) Then none"],
  ["with a long number in brackets", "Nine years.[12345]", "Nine years.(12345)"],
  ["with numbers in brackets", "As in [1], [6,7] and [2, 34 , 5].", "As in (1), (6,7) and (2, 34 , 5)"],
  ["with a word in brackets", "As in [a1] and [1b].", "As in [a1] and [1b]"],
  ["in a row of a table", "| One | two |", "One | two"],
  ["in a row without spaces", "|One|two|", "One|two"],
  ["in a row with more spaces", "|  One | two  |", "One | two"],
  ["with other marks at its end", "As follows:", "As follows"],
  ["with several marks at its end", "And so on...;,", "And so on"],
  ["with a question mark", "Why?", "Why?"],
  ["with a point inside", "In 1.5 hours", "In 1.5 hours"],
])("a sentence %s", (_, markdown, sentence) => {
  expect(toAnswerSentence(markdown)).toBe(sentence);
});
