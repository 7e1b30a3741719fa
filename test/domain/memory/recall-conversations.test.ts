import { beforeAll, beforeEach, expect, test } from "vitest";
import { forgetMemory } from "../../../domain/memory/forget-memories.ts";
import { GivenMemories } from "../../support/service/given-memories.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let memories: GivenMemories;

beforeAll(async () => {
  tenant = await service().tenant();
});

beforeEach(async () => {
  memories = await GivenMemories.create(service, tenant);
});

const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * HOUR_MS);
/** Noon, so that it is the same day in each test. */
const daysAgo = (days: number): Date => new Date(new Date().setUTCHours(12) - days * 24 * HOUR_MS);

test("four turns before and after a match are found after it, first the two beside it, the later one before the other", async () => {
  const turns = ["one", "two", "three", "four", "five", "six", "zebra", "eight", "nine", "ten", "eleven", "twelve"];
  await memories.store(...turns.map((word) => `Anna: ${word}`));
  const found = await memories.recall("zebra");
  expect(found.slice(0, 3)).toEqual(["Anna: zebra", "Anna: eight", "Anna: six"]);
  const others = ["three", "four", "five", "nine", "ten", "eleven"].map((word) => `Anna: ${word}`);
  expect(found.slice(3).toSorted()).toEqual(others.toSorted());
});

test("a memory without a speaker gives and gets nothing of the memories beside it", async () => {
  await memories.store("Anna: I like tea", "The zebra is in the zoo", "Ben: I like coffee");
  expect(await memories.recall("zebra")).toEqual(["The zebra is in the zoo"]);
  await memories.store("Ben: the lion sleeps", "It rains", "Anna: let it sleep");
  expect(await memories.recall("lion")).not.toContain("It rains");
});

test("turns that were stored more than an hour before a match are not found beside it", async () => {
  await memories.store("Anna: good morning", "Anna: breakfast is ready", "Anna: I saw a zebra");
  await memories.setTime("Anna: good morning", hoursAgo(2));
  await memories.setTime("Anna: breakfast is ready", hoursAgo(0.9));
  expect(await memories.recall("zebra")).toEqual(["Anna: I saw a zebra", "Anna: breakfast is ready"]);
});

test("a deleted turn and turns of another agent are not found beside a match", async () => {
  const other = await GivenMemories.create(service, tenant);
  await other.store("Ben: zero", "Ben: one", "Ben: two");
  const [, second] = await memories.store("Anna: I saw a zebra", "Ben: really?", "Anna: yes");
  await forgetMemory(memories.deps, memories.caller, { id: memories.agentId, memory_id: second! });
  expect(await memories.recall("zebra")).toEqual(["Anna: I saw a zebra", "Anna: yes"]);
});

test("with a kind, turns of another kind are not found beside a match or by their day", async () => {
  await memories.store("Anna: I saw a zebra");
  await memories.storeAs("commitment", "Ben: I will come");
  await memories.setTime("Anna: I saw a zebra", daysAgo(1));
  await memories.setTime("Ben: I will come", daysAgo(1));
  expect(await memories.recall("zebra yesterday", { kind: "fact" })).toEqual(["Anna: I saw a zebra"]);
  expect(await memories.recall("zebra yesterday")).toEqual(["Anna: I saw a zebra", "Ben: I will come"]);
});

test("a turn of the speaker whom the query names is before one that only mentions the name", async () => {
  await memories.store("Anna: every day some sport", "Carl: good", "Ben: Anna does some sport");
  await memories.setTime("Anna: every day some sport", daysAgo(3));
  const found = await memories.recall("Which sport does Anna do?");
  expect(found.slice(0, 2)).toEqual(["Anna: every day some sport", "Ben: Anna does some sport"]);
});

test("what was stored on a day is found by a query for the day, also without a common word, and a match is first", async () => {
  const contents = ["Acme moved to Berlin", "Globex has a new logo", "Initech pays late"];
  await memories.store(...contents, "The budget of Acme is 5 EUR");
  for (const [hours, content] of contents.entries())
    await memories.setTime(content, new Date(daysAgo(1).getTime() + hours * HOUR_MS));
  await memories.setTime("The budget of Acme is 5 EUR", daysAgo(9));
  expect(await memories.recall("What did I say about Initech yesterday?")).toEqual([
    "Initech pays late",
    "Globex has a new logo",
    "Acme moved to Berlin",
  ]);
  const day = daysAgo(9).toISOString().slice(0, 10);
  expect(await memories.recall(`What happened on ${day}?`)).toEqual(["The budget of Acme is 5 EUR"]);
});

test("in a period of more than a week only matches are found, those of the period first", async () => {
  const contents = ["Acme moved to Berlin", "Acme moved to a big house in Paris", "Globex has a new logo"];
  await memories.store(...contents);
  const year = new Date().getUTCFullYear() - 1;
  for (const content of contents) await memories.setTime(content, new Date(Date.UTC(year, 5, 5)));
  await memories.setTime("Acme moved to a big house in Paris", new Date(Date.UTC(year - 1, 5, 5)));
  expect(await memories.recall(`Where did Acme move in June ${year - 1}?`)).toEqual([
    "Acme moved to Berlin",
    "Acme moved to a big house in Paris",
  ]);
  expect(await memories.recall(`Where was Acme in June ${year}?`)).toEqual([
    "Acme moved to Berlin",
    "Acme moved to a big house in Paris",
  ]);
});
