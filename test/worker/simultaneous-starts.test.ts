import { expect, test } from "vitest";
import { Organization } from "../../domain/organizations/organization.entity.ts";
import { createHarness } from "../support/service/harness.ts";
import { createEmptyDatabase, createTestDatabase } from "../support/service/test-databases.ts";

test.for([
  ["without tables", createEmptyDatabase],
  ["without organizations", createTestDatabase],
] as const)("of APIs that start at once on a database %s, one creates the first organization", async ([, create]) => {
  await using stack = new AsyncDisposableStack();
  const { databaseUrl, redisUrl } = stack.use(await create());
  const starts = Array.from({ length: 4 }, () => createHarness({ config: { databaseUrl, redisUrl } }));
  const harnesses = (await Promise.all(starts)).map((harness) => stack.use(harness));
  const created = harnesses.map(({ service }) => service.bootstrapped?.org_id).filter((id) => id !== undefined);
  const [{ service } = { service: undefined }] = harnesses;
  const found = await service?.parts.orm.em.fork().find(Organization, {});
  expect(found?.map(({ id }) => id)).toEqual(created);
  expect(created).toHaveLength(1);
});
