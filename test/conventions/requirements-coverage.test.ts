import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HAZARDS } from "../hazards.ts";
import { GATEWAY_REQUIREMENTS } from "../requirements/gateway.ts";
import { REST_REQUIREMENTS } from "../requirements/rest.ts";
import { REQUIREMENTS } from "../requirements.ts";
import { type Citation, readCitations } from "./citations.ts";

interface CitableItem {
  text: string;
  state: "covered" | "planned";
}

const CITABLE = new Map<string, CitableItem>([
  ...Object.entries(REQUIREMENTS).map(([id, { section, clause, state }]): [string, CitableItem] => [
    id,
    { text: `${id} (section ${section}): ${clause}`, state },
  ]),
  ...Object.entries(HAZARDS).map(([number, { title, state }]): [string, CitableItem] => [
    `hazard.${number}`,
    { text: `hazard(${number}): ${title}`, state },
  ]),
]);

const TESTS = join(import.meta.dirname, "..");
const citationsByFile = globSync("**/*.ts", { cwd: TESTS, exclude: ["support/verifies.ts"] }).map((file) =>
  readCitations(`test/${file}`, readFileSync(join(TESTS, file), "utf8")),
);
const citations = citationsByFile.flatMap(({ found }) => found);
const describeCitation = ({ id, file, line }: Citation) => `${id} at ${file}:${line}`;

test("every covered clause and hazard is cited by a test that is not skipped", () => {
  const cited = new Set(citations.filter(({ skipped }) => !skipped).map(({ id }) => id));
  const missing = [...CITABLE].filter(([id, { state }]) => state === "covered" && !cited.has(id));
  expect(missing.map(([, { text }]) => text)).toEqual([]);
});

test("every citation names a clause or a hazard that exists", () => {
  expect(citations.filter(({ id }) => !CITABLE.has(id)).map(describeCitation)).toEqual([]);
});

test("no test cites a clause or hazard that is marked as planned", () => {
  expect(citations.filter(({ id }) => CITABLE.get(id)?.state === "planned").map(describeCitation)).toEqual([]);
});

test("every citation is a literal", () => {
  expect(citationsByFile.flatMap(({ unreadable }) => unreadable)).toEqual([]);
});

test("the ids of REST and gateway clauses are disjoint", () => {
  const shared = Object.keys(REST_REQUIREMENTS).filter((id) => id in GATEWAY_REQUIREMENTS);
  expect(shared).toEqual([]);
});
