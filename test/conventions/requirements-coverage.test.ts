import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HAZARDS } from "../hazards.ts";
import { GATEWAY_REQUIREMENTS } from "../requirements/gateway.ts";
import { REST_REQUIREMENTS } from "../requirements/rest.ts";
import { REQUIREMENTS } from "../requirements.ts";
import { type Citation, citationsOf } from "./citations.ts";

interface Obligation {
  text: string;
  state: "held" | "later";
}

const OBLIGATIONS = new Map<string, Obligation>([
  ...Object.entries(REQUIREMENTS).map(([id, { section, clause, state }]): [string, Obligation] => [
    id,
    { text: `${id} (section ${section}): ${clause}`, state },
  ]),
  ...Object.entries(HAZARDS).map(([number, { title, state }]): [string, Obligation] => [
    `hazard.${number}`,
    { text: `hazard(${number}): ${title}`, state },
  ]),
]);

const TESTS = join(import.meta.dirname, "..");
const read = globSync("**/*.ts", { cwd: TESTS, exclude: ["support/verifies.ts"] }).map((file) =>
  citationsOf(`test/${file}`, readFileSync(join(TESTS, file), "utf8")),
);
const citations = read.flatMap(({ found }) => found);
const at = ({ id, file, line }: Citation) => `${id} at ${file}:${line}`;

test("every held clause and hazard is cited by a test that runs", () => {
  const cited = new Set(citations.filter(({ skipped }) => !skipped).map(({ id }) => id));
  const missing = [...OBLIGATIONS].filter(([id, { state }]) => state === "held" && !cited.has(id));
  expect(missing.map(([, { text }]) => text)).toEqual([]);
});

test("every citation names a clause or a hazard that exists", () => {
  expect(citations.filter(({ id }) => !OBLIGATIONS.has(id)).map(at)).toEqual([]);
});

test("nothing is cited that is marked as later: what a test holds is marked as held", () => {
  expect(citations.filter(({ id }) => OBLIGATIONS.get(id)?.state === "later").map(at)).toEqual([]);
});

test("every citation is a literal, so that it can be read here", () => {
  expect(read.flatMap(({ unreadable }) => unreadable)).toEqual([]);
});

test("no two groups of clauses share an id", () => {
  const shared = Object.keys(REST_REQUIREMENTS).filter((id) => id in GATEWAY_REQUIREMENTS);
  expect(shared).toEqual([]);
});
