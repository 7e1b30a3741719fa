import { afterAll, beforeAll, expect, test } from "vitest";
import { describeDatabase } from "./describe-database.ts";
import { DumpHarness } from "./dump-harness.ts";
import { GIVEN_SCHEMA } from "./given-schema.ts";

let harness: DumpHarness;
beforeAll(async () => {
  harness = await DumpHarness.open();
});
afterAll(() => harness[Symbol.asyncDispose]());

async function givenDatabase(sql: string): Promise<string> {
  const id = harness.newId();
  const client = await harness.connect(id);
  await client.query(sql);
  return id;
}

async function describe(id: string): Promise<Record<string, string[]>> {
  const { name } = await harness.postgres.open(id);
  return describeDatabase(await harness.connectAsSuperuser(name));
}

test("a restored database has the same schema and rows as the exported one", async () => {
  const id = await givenDatabase(GIVEN_SCHEMA);
  const dump = await harness.export(id);
  const copy = await harness.import(dump);
  expect(await describe(copy)).toEqual(await describe(id));
  // So has the copy of a copy.
  expect(await describe(await harness.import(await harness.export(copy)))).toEqual(await describe(id));
  const { name } = await harness.postgres.open(id);
  expect(Object.values(dump).join("")).not.toContain(name);
});
