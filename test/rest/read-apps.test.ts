import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

verifies(
  ["rest.list.200", "rest.list.apps"],
  "200 returns an empty list for an organization without apps",
  async () => {
    const { rest } = await service().tenant();
    const response = await rest.get("/v1/apps");
    expect([response.status, response.body]).toEqual([200, { apps: [] }]);
  },
);

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
    const response = await rest.get("/v1/apps");
    expect(response.body).toEqual({
      apps: [
        {
          id: body["app_id"],
          name: "site",
          slug: body["slug"],
          environment: null,
          parent_id: null,
          status: "queued",
          status_message: null,
          runtime: null,
          created_at: expect.stringMatching(TIMESTAMP),
          updated_at: expect.stringMatching(TIMESTAMP),
          app_token: body["app_token"],
          url: body["url"],
          repo: "acme/site",
          branch: "main",
          framework: null,
        },
      ],
    });
  },
);

verifies(
  ["rest.list.every", "apps.organization", "rest.auth.api_key.organization"],
  "200 lists every app of the organization, newest first, and no app of another organization",
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
  "200 returns one app with exactly the fields of AppDetail, its source and its deployments",
  async () => {
    const { rest, org_id, user_id } = await service().tenant();
    const { body } = await rest.deploy({ repo: "acme/site" });
    const response = await rest.get(`/v1/apps/${String(body["app_id"])}`);
    expect([response.status, response.body]).toEqual([
      200,
      {
        id: body["app_id"],
        user_id,
        org_id,
        created_by: user_id,
        name: "site",
        slug: body["slug"],
        environment: null,
        parent_id: null,
        status: "queued",
        status_message: null,
        error: null,
        runtime: null,
        created_at: expect.stringMatching(TIMESTAMP),
        updated_at: expect.stringMatching(TIMESTAMP),
        app_token: body["app_token"],
        manifest: null,
        url: body["url"],
        repo: "acme/site",
        host: null,
        branch: "main",
        archive: null,
        root_directory: null,
        build_network: false,
        requested_runtime: null,
        latest_deployment_id: expect.any(String),
        live_deployment_id: null,
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
  "200 returns null as logs while there is no log",
  async () => {
    const { rest } = await service().tenant();
    const { body } = await rest.deploy({ repo: "acme/site" });
    const response = await rest.get(`/v1/apps/${String(body["app_id"])}/logs`);
    expect([response.status, response.body]).toEqual([
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
  "404 is the same byte for byte for an app of another organization, an unknown id and a malformed id",
  async () => {
    const { rest } = await service().tenant();
    const foreign = await service().givenApp(await service().tenant());
    const ids = [foreign.id, randomUUID(), "not-a-uuid", "1", "%00", "'; drop table apps; --"];
    for (const [method, suffix] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/logs"],
    ] as const) {
      const responses = await Promise.all(
        ids.map((id) => rest.send(method, `/v1/apps/${encodeURIComponent(id)}${suffix}`, {})),
      );
      for (const response of responses) {
        expect([response.status, response.text]).toEqual([404, `{"error":"App not found"}`]);
        expect([...response.headers.keys()].toSorted()).toEqual([...(responses[0]?.headers.keys() ?? [])].toSorted());
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
  "404 is returned for the prefix of another version and for an unknown endpoint",
  async () => {
    const { rest } = await service().tenant();
    for (const path of ["/v2/apps", "/apps", "/v1/nothing", "/v1", "/V1/APPS"]) {
      const response = await rest.get(path);
      expect([path, response.status, response.body]).toEqual([path, 404, { error: expect.any(String) }]);
    }
  },
);

verifies(
  "rest.error",
  "4xx returns {error} and the request id for a malformed request, and logs no internal error",
  async () => {
    const rest = (await service().tenant()).rest.as(null);
    const responses = [
      await rest.get("/v1/apps/%E0%A4%A"),
      await rest.get("/docs/%00"),
      await rest.send("POST", "/nothing", { body: "{", headers: { "content-type": "application/json" } }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([400, 404, 404]);
    for (const { body, headers } of responses) {
      expect([body, headers.get("x-request-id")]).toEqual([{ error: expect.any(String) }, expect.any(String)]);
      expect(service().logged()).not.toMatch(/"level":50/);
    }
  },
);

verifies("limits.reads.unlimited", "200 is returned for every read, however many there are", async () => {
  const tenant = await service().tenant();
  const { id } = await service().givenApp(tenant);
  const paths = ["/v1/apps", `/v1/apps/${id}`, `/v1/apps/${id}/logs`];
  const responses = await Promise.all(Array.from({ length: 120 }, (_, n) => tenant.rest.get(paths[n % 3] ?? "")));
  expect(new Set(responses.map((response) => response.status))).toEqual(new Set([200]));
});
