import { expect, test } from "vitest";
import { readCitations } from "./citations.ts";

const read = (source: string) => readCitations("a.test.ts", source);
const ids = (source: string) => read(source).found.map(({ id }) => id);

test("a single id, a list of ids and a hazard are read", () => {
  expect(ids(`verifies("rest.get.404", "a", () => {});`)).toEqual(["rest.get.404"]);
  expect(ids(`verifies(["rest.get.404", hazard(26)], "a", async () => {});`)).toEqual(["rest.get.404", "hazard.26"]);
  expect(ids(`verifies(hazard(5), "a", body);`)).toEqual(["hazard.5"]);
  expect(ids(`verifies(["rest.get.404"] as const, "a", body);`)).toEqual(["rest.get.404"]);
});

test("a citation has its file and line", () => {
  const { found } = read(`// a comment\n\nverifies(\n  ["rest.get.404",\n   hazard(26)],\n  "a", body);`);
  expect(found.map(({ file, line }) => `${file}:${line}`)).toEqual(["a.test.ts:4", "a.test.ts:5"]);
});

test("citations in suites, loops, functions and conditions are found", () => {
  const source = `
    describe("suite", () => {
      for (const driver of drivers) { if (driver.enabled) verifies("a", "x", async () => { await using h = await open(); }); }
    });
    export function contract(): void { describe.skipIf(!available)("inner", () => verifies("b", "y", body)); }`;
  expect(ids(source)).toEqual(["a", "b"]);
});

test("comments, strings, methods and imports are not citations", () => {
  const source = `
    // verifies("comment", "x", body)
    const text = 'verifies("string", "x", body)';
    const template = \`verifies("template", "x", body)\`;
    other.verifies("method", "x", body);
    import { verifies } from "../support/verifies.ts";`;
  expect(read(source)).toEqual({ found: [], unreadable: [] });
});

test.each([
  ["an option", `verifies("a", "x", body, { skip: true });`],
  ["a reason to skip", `verifies("a", "x", body, { timeout: 1, skip: "flaky" });`],
  ["an option to do", `verifies("a", "x", body, { todo: true });`],
  ["its suite", `describe.skip("suite", () => { verifies("a", "x", body); });`],
  ["an outer suite", `describe.skip("s", () => { describe("t", () => { verifies("a", "x", body); }); });`],
  ["a suite's option", `describe("suite", { skip: true }, () => { verifies("a", "x", body); });`],
  ["a table of suites", `describe.skip.each([1])("suite", () => { verifies("a", "x", body); });`],
])("a test that is skipped by %s is marked as skipped", (_reason, source) => {
  expect(read(source).found).toMatchObject([{ id: "a", skipped: true }]);
});

test.each([
  `verifies("a", "x", body, { skip: false });`,
  `verifies("a", "x", body, { skip: backend !== "services" });`,
  `describe.skipIf(!available)("suite", () => { verifies("a", "x", body); });`,
  `describe.skip("another", () => {}); verifies("a", "x", body);`,
])("a test that can run is not marked as skipped: %s", (source) => {
  expect(read(source).found).toMatchObject([{ id: "a", skipped: false }]);
});

test.each([
  `verifies(id, "x", body);`,
  `verifies([...ids], "x", body);`,
  `verifies(hazard(n), "x", body);`,
  `verifies();`,
])("a citation that is not a literal is reported: %s", (source) => {
  expect(read(source)).toEqual({ found: [], unreadable: ["a.test.ts:1"] });
});

test("a source file with a syntax error is reported", () => {
  expect(() => read(`verifies("a", `)).toThrow("a.test.ts cannot be parsed");
});
