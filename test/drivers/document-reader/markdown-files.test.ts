import { expect, test } from "vitest";
import { cleanMarkdown } from "../../../server/drivers/document-reader/clean-markdown.ts";

test.each([
  ["tags of Liquid", "{% include nav.html %}\nPay {{ site.price }}5 euros.{% if x %}\n", "\nPay 5 euros.\n"],
  ["places for words of the reader", "Dear {{ customer_name }},", "Dear {{ customer_name }},"],
  ["shortcodes of Hugo", "{{< toc >}}\nSee {{% link %}}here{{% /link %}}.", "\nSee here."],
  ["a block of code of Jekyll", "{% highlight sh %}\nls {{< x >}}\n{% endhighlight %}", "```sh\nls {{< x >}}\n```"],
  [
    "imports and components of MDX",
    "import Tabs from '@theme/Tabs';\nimport './a.css';\n\n<Tabs groupId={{a: 1}}>\n<TabItem value=\"a > b\">\n\nText.\n\n</TabItem>\n</Tabs>",
    "\n\nText.\n\n",
  ],
  ["exports of MDX", "import A from 'a'\n\nexport const b = {\n  c: 1,\n};\n\nText.", "\n\nText."],
  ["the word import in a text", "import duties are due.", "import duties are due."],
  ["comments", "a<!-- hidden\n\ntwo -->b{/* three */}", "ab"],
  ["a comment without an end", "a <!-- b", "a <!-- b"],
  ["tags of HTML", '<p align="center">Text<br>more <b>bold</b></p>', "Text\nmore bold"],
  [
    "places in angle brackets, and links",
    "Run <your name> at <https://example.com>. a < b",
    "Run <your name> at <https://example.com>. a < b",
  ],
  [
    "rows of an HTML table",
    "<table>\n<tr><th>A</th>\n<th>B|C</th></tr>\n<tr>\n <td>1</td><td>2</td>\n</tr></table>",
    "\n| A | B/C |\n| 1 | 2 |",
  ],
  ["notes of Docusaurus", ":::tip[Good to know]\n\nText.\n\n:::", "Good to know\n\nText.\n\n"],
  [
    "notes of MkDocs and GitHub",
    '!!! note "Remember"\n    Text.\n\n> [!NOTE]\n> More.',
    "Remember\n    Text.\n\n>\n> More.",
  ],
  ["ids of headings, and tables of contents", "## Fees {#fees}\n\n* TOC\n{:toc}\n\n[[toc]]", "## Fees\n\n"],
  [
    "code",
    "`{% x %} <b>`\n\n```jsx\nimport a from 'a';\n<Tabs>{{< x >}}</Tabs>\n```",
    "`{% x %} <b>`\n\n```jsx\nimport a from 'a';\n<Tabs>{{< x >}}</Tabs>\n```",
  ],
])("%s in Markdown are cleaned", (_, text, expected) => {
  expect(cleanMarkdown(text).replaceAll(/\n{2,}/g, "\n\n")).toBe(expected);
});

test("a text of many unfinished marks is cleaned in time that grows with its length", () => {
  const started = performance.now();
  for (const mark of ["<A ", "{% ", "<!--", "{{<", "`", "<tr>", '<A "', "\n\n ", ":::", "{:"])
    cleanMarkdown(mark.repeat(500_000 / mark.length));
  expect(performance.now() - started).toBeLessThan(60_000);
});
