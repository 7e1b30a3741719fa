import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { expect, test } from "vitest";

/** What no linter rule of ours can say: each convention is a function from a source to the lines that break it. */
type Convention = (source: string) => number[];

const root = path.resolve(import.meta.dirname, "../..");
const files = globSync("{domain,routers,server,clients,scripts,bench,test}/**/*.ts", { cwd: root });

function breaches(convention: Convention): string[] {
  return files.flatMap((file) =>
    convention(readFileSync(path.join(root, file), "utf8")).map((line) => `${file}:${line}`),
  );
}

const lineAt = (source: string, offset: number) => source.slice(0, offset).split("\n").length;

/** An option named `shell`, unless it is `false`: a shell would read what comes from outside as commands. */
const startsShell: Convention = (source) => {
  const lines: number[] = [];
  new Visitor({
    Property({ key, value, start }) {
      const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? key.value : null;
      if (name === "shell" && !(value.type === "Literal" && value.value === false)) lines.push(lineAt(source, start));
    },
  }).visit(parseSync("source.ts", source).program);
  return lines;
};

/** TypeScript accepts decorators; Node, which only strips types, does not run them. */
const decorates: Convention = (source) => {
  const lines: number[] = [];
  new Visitor({ Decorator: ({ start }) => void lines.push(lineAt(source, start)) }).visit(
    parseSync("source.ts", source).program,
  );
  return lines;
};

/** A linter rule switched off without ` -- ` and the reason. */
const suppressesWithoutReason: Convention = (source) =>
  parseSync("source.ts", source)
    .comments.filter(({ value }) => /(ox|es)lint-disable/.test(value) && !/ -- \S/.test(value))
    .map(({ start }) => lineAt(source, start));

test("no process is started through a shell", () => {
  expect(breaches(startsShell)).toEqual([]);
});

test("nothing is decorated", () => {
  expect(breaches(decorates)).toEqual([]);
});

test("every lint suppression carries its reason", () => {
  expect(breaches(suppressesWithoutReason)).toEqual([]);
});

test(".env.example explains every setting there is, and no other", () => {
  const read = (file: string) => readFileSync(path.join(root, file), "utf8");
  const names = (source: string, form: RegExp) => [...source.matchAll(form)].map(([, name]) => name).toSorted();
  const settings = names(read("server/config.ts"), /^ {2}([A-Z][A-Z_]+): /gm);
  expect(settings).toContain("PORT");
  expect(names(read(".env.example"), /^#([A-Z][A-Z_]+)=/gm)).toEqual(settings);
});

test("the conventions see what breaks them, and nothing else", () => {
  expect(
    startsShell(`spawn("a", [],\n{ shell: true }); spawn("b", { "shell": x }); spawn("c", { shell: false });`),
  ).toEqual([2, 2]);
  expect(decorates(`\n@sealed class A {}\nclass B { @bound method() {} }`)).toEqual([2, 3]);
  expect(
    suppressesWithoutReason(
      [
        "// oxlint-disable-next-line no-console",
        "// oxlint-disable-next-line no-console -- the user asked for it",
        'const text = "oxlint-disable-line";',
        "/* eslint-disable no-eval */",
      ].join("\n"),
    ),
  ).toEqual([1, 4]);
});
