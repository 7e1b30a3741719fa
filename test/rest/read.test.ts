import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

verifies(["rest.list.200", "rest.list.apps"], "200 lists an organization without apps as an empty list", async () => {
  const { rest } = await service().tenant();
  const answer = await rest.get("/v1/apps");
  expect([answer.status, answer.body]).toEqual([200, { apps: [] }]);
});

verifies(
  [
    "rest.list.id",
    "rest.list.name",
    "rest.list.slug",
    "rest.list.status",
    "rest.list.status_message",
    "rest.list.created_at",
    "rest.list.updated_at",
    "rest.list.app_token",
  ],
  "200 lists an app with exactly the fields of AppSummary",
  async () => {
    const { rest } = await service().tenant();
    const { body } = await rest.deploy({ repo: "acme/site" });
    const answer = await rest.get("/v1/apps");
    expect(answer.body).toEqual({
      apps: [
        {
          id: body["app_id"],
          name: "site",
          slug: body["slug"],
          status: "queued",
          status_message: null,
          created_at: expect.stringMatching(TIMESTAMP),
          updated_at: expect.stringMatching(TIMESTAMP),
          app_token: body["app_token"],
        },
      ],
    });
  },
);

verifies(
  ["rest.list.every", "apps.organization", "rest.auth.api_key.organization"],
  "200 lists every app of the organization, newest first, and none of another's",
  async () => {
    const tenant = await service().tenant();
    const other = await service().tenant();
    const ids: string[] = [];
    for (let day = 1; day <= 30; day++)
      ids.unshift((await service().givenApp(tenant, { createdAt: new Date(Date.UTC(2026, 0, day)) })).id);
    await service().givenApp(other);
    const { body } = await tenant.rest.get("/v1/apps");
    expect((body["apps"] as { id: string }[]).map((app) => app.id)).toEqual(ids);
  },
);

verifies(
  [
    "rest.get.200",
    "rest.get.id",
    "rest.get.user_id",
    "rest.get.org_id",
    "rest.get.created_by",
    "rest.get.name",
    "rest.get.slug",
    "rest.get.status",
    "rest.get.status_message",
    "rest.get.error",
    "rest.get.created_at",
    "rest.get.updated_at",
    "rest.get.app_token",
    "rest.get.manifest",
    "rest.get.url",
  ],
  "200 shows one app with exactly the fields of AppDetail",
  async () => {
    const { rest, org_id, user_id } = await service().tenant();
    const { body } = await rest.deploy({ repo: "acme/site" });
    const answer = await rest.get(`/v1/apps/${String(body["app_id"])}`);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        id: body["app_id"],
        user_id,
        org_id,
        created_by: user_id,
        name: "site",
        slug: body["slug"],
        status: "queued",
        status_message: null,
        error: null,
        created_at: expect.stringMatching(TIMESTAMP),
        updated_at: expect.stringMatching(TIMESTAMP),
        app_token: body["app_token"],
        manifest: null,
        url: body["url"],
      },
    ]);
  },
);

verifies(
  [
    "rest.logs.200",
    "rest.logs.status",
    "rest.logs.status_message",
    "rest.logs.error",
    "rest.logs.logs.null",
    hazard(55),
  ],
  "200 answers with null logs while there is no log",
  async () => {
    const { rest } = await service().tenant();
    const { body } = await rest.deploy({ repo: "acme/site" });
    const answer = await rest.get(`/v1/apps/${String(body["app_id"])}/logs`);
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: "queued", status_message: null, error: null, logs: null },
    ]);
  },
);

verifies(
  [
    "rest.get.404",
    "rest.delete.404",
    "rest.logs.404",
    "rest.get.404.foreign",
    "rest.delete.404.foreign",
    "rest.logs.404.foreign",
    "rest.foreign.hidden",
    "rest.error.404",
    "rest.error",
    "rest.id.uuid",
    hazard(26),
    hazard(27),
  ],
  "404 is the same to the byte for a foreign app, an absent one and a malformed id",
  async () => {
    const { rest } = await service().tenant();
    const foreign = await service().givenApp(await service().tenant());
    const ids = [foreign.id, randomUUID(), "not-a-uuid", "1", "%00", "'; drop table apps; --"];
    for (const [method, suffix] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/logs"],
    ] as const) {
      const answers = await Promise.all(
        ids.map((id) => rest.send(method, `/v1/apps/${encodeURIComponent(id)}${suffix}`, {})),
      );
      for (const answer of answers) {
        expect([answer.status, answer.text]).toEqual([404, `{"error":"App not found"}`]);
        expect([...answer.headers.keys()].toSorted()).toEqual([...(answers[0]?.headers.keys() ?? [])].toSorted());
      }
    }
    const still = await service()
      .service.parts.orm.em.fork()
      .execute("select status from apps where id = ?", [foreign.id]);
    expect(still).toEqual([{ status: "ready" }]);
  },
);

verifies(
  ["versions.prefix", "versions.other"],
  "404 answers for another version's prefix and for an endpoint that is not there",
  async () => {
    const { rest } = await service().tenant();
    for (const path of ["/v2/apps", "/apps", "/v1/nothing", "/v1", "/V1/APPS"]) {
      const answer = await rest.get(path);
      expect([path, answer.status, answer.body]).toEqual([path, 404, { error: expect.any(String) }]);
    }
  },
);

verifies(
  "rest.error",
  "4xx answers a request that no endpoint could take with {error} and its id, and logs no fault",
  async () => {
    const rest = (await service().tenant()).rest.as(null);
    const answers = [
      await rest.get("/v1/apps/%E0%A4%A"),
      await rest.get("/docs/ui/%00"),
      await rest.send("POST", "/nothing", { body: "{", headers: { "content-type": "application/json" } }),
    ];
    for (const { status, body, headers } of answers) {
      expect([400, 403, 404]).toContain(status);
      expect([body, headers.get("x-request-id")]).toEqual([{ error: expect.any(String) }, expect.any(String)]);
      expect(service().logged()).not.toMatch(/"level":50/);
    }
  },
);

verifies("limits.reads.unlimited", "200 answers reads however many there are", async () => {
  const tenant = await service().tenant();
  const { id } = await service().givenApp(tenant);
  const paths = ["/v1/apps", `/v1/apps/${id}`, `/v1/apps/${id}/logs`];
  const answers = await Promise.all(Array.from({ length: 120 }, (_, n) => tenant.rest.get(paths[n % 3] ?? "")));
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
});
