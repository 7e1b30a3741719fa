import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { type EventFilter, selectEvents } from "../../../domain/audit/select-events.ts";
import { nodesOf, type PlanNode, rowsRead } from "../../support/database/query-plans.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

/** The number of events of the organization, of all other organizations, and without an organization. */
const EVENTS = 60_000;
const PAGE = 101;
const [KEY, FOREIGN_USER, TARGET] = [randomUUID(), randomUUID(), randomUUID()];

let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
  const em = service().service.parts.orm.em.fork();
  // Of each 1,000 events of the organization, one has the rare action, and one has the rare user and the rare key.
  await em.execute(
    `insert into audit_events (id, org_id, user_id, credential_id, action, target, outcome, created_at)
     select gen_random_uuid(), case n % 3 when 0 then ?::uuid when 1 then gen_random_uuid() end,
       case when n % 3 = 2 then gen_random_uuid() when n % 1000 = 0 then ?::uuid else ?::uuid end,
       case when n % 1000 = 0 then ? else 'session' end, case when n % 1000 = 1 then 'apps.delete' else 'apps.deploy' end,
       case when n % 1000 < 3 then ? else gen_random_uuid()::text end, 'done', timestamptz '2026-01-01' + n * interval '1 minute'
     from generate_series(1, ?) n`,
    [tenant.org_id, FOREIGN_USER, tenant.user_id, KEY, TARGET, EVENTS],
  );
  await em.execute("analyze audit_events");
});

/** Runs the query of a page. Returns how the table of events was read, and how many of its rows. */
async function explain(filter: EventFilter) {
  const query = selectEvents(service().service.parts.service.db, tenant.org_id, filter, PAGE);
  const [row] = await query.explain<{ "QUERY PLAN": { Plan: PlanNode }[] }>("json", sql`analyze`);
  const scans = nodesOf(row!["QUERY PLAN"][0]!.Plan).filter((node) => node["Relation Name"] === "audit_events");
  return {
    kinds: [...new Set(scans.map((node) => node["Node Type"]))],
    rows: scans.reduce((sum, node) => sum + rowsRead(node), 0),
  };
}

const middle = "2026-01-20T00:00:00.000Z";

test.each<[string, () => EventFilter]>([
  ["no filter", () => ({})],
  ["a common user", () => ({ userId: tenant.user_id })],
  ["a rare user", () => ({ userId: FOREIGN_USER })],
  ["a rare credential", () => ({ credentialId: KEY })],
  ["a common action", () => ({ action: "apps.deploy" })],
  ["a rare action", () => ({ action: "apps.delete" })],
  ["an action that never occurred", () => ({ action: "apps.never" })],
  ["a rare target", () => ({ target: TARGET })],
  ["a target that does not exist", () => ({ target: randomUUID() })],
  ["a start", () => ({ from: middle })],
  ["an end", () => ({ to: middle })],
  ["a user and a time", () => ({ userId: tenant.user_id, from: "2026-01-02T00:00:00.000Z", to: middle })],
])("a page of events with %s reads an index, and hardly more rows than it returns", async (_name, filter) => {
  for (const after of [undefined, { createdAt: "2026-01-15T00:00:00.000Z", id: randomUUID() }]) {
    const { kinds, rows } = await explain({ ...filter(), after });
    expect(["Index Scan", "Bitmap Heap Scan"]).toEqual(expect.arrayContaining(kinds));
    expect(rows).toBeLessThanOrEqual(2 * PAGE);
  }
});
