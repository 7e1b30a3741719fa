import { expect, test } from "vitest";
import { IdempotencyKey } from "../../domain/apps/idempotency-key.entity.ts";
import { sha256Hex } from "../../domain/shared/sha256.ts";
import { VARIABLE_LIMITS } from "../../domain/variables/variable-rules.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { dumpTables } from "../support/database/dump-tables.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

const VALUE = "s3cret-value-4Tq8";
const named = (name: string, more: object = {}) => ({ name, value: VALUE, ...more });

const INVALID: [unknown, string][] = [
  [named("A"), "variables"],
  [["A=1"], "variables.0"],
  [[{ name: "A" }], "variables.0.value: missing"],
  [[{ value: VALUE }], "variables.0.name: missing"],
  [[named("A", { hidden: true })], 'variables.0: unknown field "hidden"'],
  [[named("A", { secret: "yes" })], "variables.0.secret"],
  [[named("A"), named("lower")], "variables.1.name: must match ^[A-Z][A-Z0-9_]*$"],
  [[named("PATH")], 'variables.0.name: "PATH" is reserved'],
  [[named("A", { value: `${VALUE}\0` })], "variables.0.value: must be text without NUL"],
  [[named("A", { value: "x".repeat(VARIABLE_LIMITS.valueBytes + 1) })], "variables.0.value: has 32769 bytes"],
  [[named("A"), named("B"), named("A")], "variables.2.name: an earlier variable has the same name"],
  [Array.from({ length: 101 }, (_, at) => named(`A${at}`)), "variables: contains 101, but an app can have at most 100"],
  [
    Array.from({ length: 9 }, (_, at) => named(`A${at}`, { value: "x".repeat(VARIABLE_LIMITS.valueBytes) })),
    "may have at most 262144",
  ],
];

test.each(INVALID)(
  "400 rejects a deploy with the variables %j, creates nothing, and counts",
  async (variables, reason) => {
    const tenant = await service().tenant();
    const response = await tenant.rest.deploy({ repo: "acme/site", variables });
    expect([response.status, response.body["error"]]).toEqual([400, expect.stringContaining(reason)]);
    expect(response.text).toContain("This attempt counted: 4 of 5 are left.");
    expect(response.text).not.toContain(VALUE);
    const gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
    const result = await gateway.tool("service_deploy_app", { repo: "acme/site", variables });
    expect([result.isError, result.text]).toEqual([true, expect.stringContaining(reason)]);
    expect(result.text).toContain("This attempt counted: 3 of 5 are left.");
    expect(result.text).not.toContain(VALUE);
    expect((await tenant.rest.get("/v1/apps")).body).toEqual({ apps: [] });
    expect(await dumpTables(em())).not.toContain(VALUE);
  },
);

test("the most variables and the largest ones are accepted, also if JSON escapes each character", async () => {
  const { rest } = await service().tenant();
  const many = Array.from({ length: VARIABLE_LIMITS.count }, (_, at) => named(`A${at}`));
  // Seven of the largest values, with room for the names.
  const large = Array.from({ length: 7 }, (_, at) =>
    named(`B${at}`, { value: "\u0001".repeat(VARIABLE_LIMITS.valueBytes) }),
  );
  for (const variables of [[], many, large]) {
    const { status, body } = await rest.deploy({ repo: "acme/site", variables });
    expect(status).toBe(201);
    const listed = (await rest.get(`/v1/apps/${String(body["app_id"])}/variables`)).body["variables"];
    const byName = variables.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect(listed).toMatchObject(byName);
  }
});

test("a deploy that the plan refuses stores no variables", async () => {
  const tenant = await service().tenant({ plan: "free" });
  const { apps: limit } = service().service.parts.service.plans.getLimits("free");
  for (let n = 1; n < limit; n++) await service().givenApp(tenant);
  const stored = async () =>
    await em().execute("select app_variables.name from app_variables join apps on apps.id = app_id where org_id = ?", [
      tenant.org_id,
    ]);
  const deploy = async () => (await tenant.rest.deploy({ repo: "acme/site", variables: [named("A")] })).status;
  expect([await deploy(), await deploy()]).toEqual([201, 403]);
  expect(await stored()).toEqual([{ name: "A" }]);
});

test("the stored fingerprint of a request is no hash that can be computed without the service's secret", async () => {
  const { rest, org_id: orgId } = await service().tenant();
  const request = { repo: "acme/site", variables: [named("A")] };
  expect((await rest.deploy(request, { "idempotency-key": "once" })).status).toBe(201);
  const { fingerprint } = await em().findOneOrFail(IdempotencyKey, { orgId, key: "once" });
  expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
  expect(fingerprint).not.toBe(sha256Hex(JSON.stringify(Object.entries(request).toSorted())));
  const reordered = { variables: [{ value: VALUE, name: "A" }], repo: "acme/site" };
  expect((await rest.deploy(reordered, { "idempotency-key": "once" })).status).toBe(201);
  for (const changed of [{ value: "other" }, { secret: true }])
    expect(
      (await rest.deploy({ ...request, variables: [named("A", changed)] }, { "idempotency-key": "once" })).status,
    ).toBe(422);
  expect((await rest.get("/v1/apps")).body["apps"]).toHaveLength(1);
});
