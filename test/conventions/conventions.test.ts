import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { expect, test } from "vitest";

/** A rule that the linter does not have. Returns the lines of a source text that break it. */
type Convention = (source: string) => number[];

const root = path.resolve(import.meta.dirname, "../..");
const files = globSync("{domain,routers,server,clients,scripts,bench,test}/**/*.ts", { cwd: root });

function findViolations(convention: Convention): string[] {
  return files.flatMap((file) =>
    convention(readFileSync(path.join(root, file), "utf8")).map((line) => `${file}:${line}`),
  );
}

const lineAt = (source: string, offset: number) => source.slice(0, offset).split("\n").length;

/** Finds options named `shell` that are not `false`. A shell would interpret untrusted arguments as commands. */
const findShellOptions: Convention = (source) => {
  const lines: number[] = [];
  new Visitor({
    Property({ key, value, start }) {
      const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? key.value : null;
      if (name === "shell" && !(value.type === "Literal" && value.value === false)) lines.push(lineAt(source, start));
    },
  }).visit(parseSync("source.ts", source).program);
  return lines;
};

/** Finds decorators. TypeScript accepts them, but Node cannot run them: it only strips types. */
const findDecorators: Convention = (source) => {
  const lines: number[] = [];
  new Visitor({ Decorator: ({ start }) => void lines.push(lineAt(source, start)) }).visit(
    parseSync("source.ts", source).program,
  );
  return lines;
};

/** Finds suppressions of linter rules without ` -- ` and a reason. */
const findUnexplainedSuppressions: Convention = (source) =>
  parseSync("source.ts", source)
    .comments.filter(({ value }) => /(ox|es)lint-disable/.test(value) && !/ -- \S/.test(value))
    .map(({ start }) => lineAt(source, start));

test("the conventions are checked in all source files", () => {
  expect(files).toEqual(expect.arrayContaining(["server/main.ts", "test/conventions/conventions.test.ts"]));
});

test("no process is started through a shell", () => {
  expect(findViolations(findShellOptions)).toEqual([]);
});

test("no source file contains decorators", () => {
  expect(findViolations(findDecorators)).toEqual([]);
});

test("every lint suppression has a reason", () => {
  expect(findViolations(findUnexplainedSuppressions)).toEqual([]);
});

test(".env.example documents every setting and no other", () => {
  const read = (file: string) => readFileSync(path.join(root, file), "utf8");
  const names = (source: string, form: RegExp) => [...source.matchAll(form)].map(([, name]) => name).toSorted();
  const files = [
    "config",
    "config/build-limits",
    "config/cloudflare-settings",
    "config/model-settings",
    "config/embeddings-settings",
    "config/backup-settings",
    "config/role-settings",
    "config/edge-cluster-settings",
  ];
  const sources = files.map((name) => read(`server/${name}.ts`)).join("");
  const settings = names(sources, /^ {2}([A-Z][A-Z_]+): /gm);
  expect(settings).toContain("PORT");
  expect(names(read(".env.example"), /^#([A-Z][A-Z_]+)=/gm)).toEqual(settings);
});

test("each rule finds exactly the lines that break it", () => {
  expect(
    findShellOptions(`spawn("a", [],\n{ shell: true }); spawn("b", { "shell": x }); spawn("c", { shell: false });`),
  ).toEqual([2, 2]);
  expect(findDecorators(`\n@sealed class A {}\nclass B { @bound method() {} }`)).toEqual([2, 3]);
  expect(
    findUnexplainedSuppressions(
      [
        "// oxlint-disable-next-line no-console",
        "// oxlint-disable-next-line no-console -- the user asked for it",
        'const text = "oxlint-disable-line";',
        "/* eslint-disable no-eval */",
      ].join("\n"),
    ),
  ).toEqual([1, 4]);
});
