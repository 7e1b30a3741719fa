import { expect, test } from "vitest";
import { ThreadYamlParser } from "../../../server/drivers/yaml-parser/thread-yaml-parser.ts";

const parser = new ThreadYamlParser();

test("maps, lists, texts and numbers become plain data", async () => {
  const text = 'a: text\nb: [1, true, null]\nc: {d: "e",}\nf: |\n  two\n  lines\ng: 2026-01-01\n__proto__: {h: 1}';
  expect(await parser.parse("org-1", text, 1)).toEqual({
    value: JSON.parse(
      '{"a":"text","b":[1,true,null],"c":{"d":"e"},"f":"two\\nlines\\n","g":"2026-01-01","__proto__":{"h":1}}',
    ),
  });
});

const level = (name: string, inside: string) => `${name}: &${name} [${Array(9).fill(inside).join(", ")}]\n`;
const LEVELS = ["b", "c", "d", "e", "f", "g", "h", "i"];
const BOMB = level("a", '"x"') + LEVELS.map((name, at) => level(name, `*${LEVELS[at - 1] ?? "a"}`)).join("");

test.each([
  ["a bomb of aliases", BOMB, /aliases \(\*name\) are not allowed/],
  ["an alias", "a: &x 1\nb: *x", /aliases/],
  ["a merge key", "a: &x {b: 1}\nc:\n  <<: *x", /aliases/],
  ["a custom tag", "a: !!js/function 'x'", /tags \(!name\) are not allowed/],
  ["a binary tag", "a: !!binary aGk=", /tags/],
  ["a key that is a list", "? [a]\n: 1", /keys must be strings at line 8/],
  ["a key twice", "a: 1\na: 2", /Map keys must be unique at line 9/],
  [
    "a colon in a plain text",
    "name: a\ndescription: Use it: now",
    /Nested mappings are not allowed .* at line 9, column 14/,
  ],
  ["a tab as indentation", "a:\n\tb: 1", /Tabs are not allowed as indentation at line 9/],
  ["deep nesting", "[".repeat(16_000), /call stack|too complex|at line 8/],
])("%s is rejected", async (_, text, problem) => {
  expect(await parser.parse("org-1", text, 8)).toEqual({ problem: expect.stringMatching(problem) });
});
