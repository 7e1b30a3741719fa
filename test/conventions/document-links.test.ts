import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const documents = globSync(["*.md", "docs/**/*.md"], { cwd: root });

/** The target of each relative link, as a path in the project. Code, such as a regular expression, contains no link. */
function linksIn(document: string, text: string): string[] {
  return [...text.replaceAll(/(`+).+?\1/g, "").matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => path.posix.join(path.posix.dirname(document), target));
}

/** Each path of a file or folder that stands in backquotes. Paths with placeholders, such as `<noun>` or `*`, are left out. */
function pathsIn(text: string): string[] {
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
  return spans.filter((span) => /^(domain|routers|server|clients|scripts|bench|test|docs)\/[\w./-]+$/.test(span));
}

function findMissing(pathsOf: (document: string, text: string) => string[]): string[] {
  return documents.flatMap((document) =>
    pathsOf(document, readFileSync(path.join(root, document), "utf8"))
      .filter((file) => !existsSync(path.join(root, file)))
      .map((file) => `${document}: ${file}`),
  );
}

test("the checked documents include the README and the decisions", () => {
  expect(documents).toEqual(expect.arrayContaining(["README.md", "docs/decisions/0001-random-slug-suffix.md"]));
});

test("every relative link in a document leads to an existing file", () => {
  expect(findMissing(linksIn)).toEqual([]);
});

test("every path of the project that a document names exists", () => {
  expect(findMissing((_document, text) => pathsIn(text))).toEqual([]);
});

test("links and paths are found, and web addresses and placeholders are not", () => {
  const text =
    "[a](../a.ts#L1) [b](https://example.com) `docs/c.md` `domain/<noun>/d.ts` `domain/e` `npm test` [`f`](f.ts) `[g](g.ts)`";
  expect(linksIn("docs/x.md", text)).toEqual(["a.ts", "docs/f.ts"]);
  expect(pathsIn(text)).toEqual(["docs/c.md", "domain/e"]);
});
