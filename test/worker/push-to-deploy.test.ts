import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BUILT_IN_PLANS } from "../../server/config/plans-file.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { type GitServer, gitServer } from "../support/builds/git-server.ts";
import {
  givenDelivery,
  type GivenDelivery,
  type GivenPush,
  type HostFormat,
} from "../support/builds/push-deliveries.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";
import { verifies } from "../support/verifies.ts";

const TOKEN = "private-token-5f2a";
const BASIC = `Basic ${Buffer.from(`git:${TOKEN}`).toString("base64")}`;

type Status = { path: string; body: Record<string, unknown> };

const resources = new AsyncDisposableStack();
let harness: Harness;
let host: GitServer;
let repository: Repository;
/** What the service has told the git host about commits, and how the host responds. */
const statuses: Status[] = [];
let statusResponse = 201;

/** A git host with the API of Gitea, whose repositories only a token can read. */
function respondAsGitea(request: IncomingMessage, response: ServerResponse): boolean {
  const { pathname } = new URL(request.url ?? "/", "http://host");
  const answer = (status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    return true;
  };
  if (!pathname.startsWith("/api/")) return request.headers.authorization === BASIC ? false : answer(401, {});
  if (request.headers.authorization !== `token ${TOKEN}`) return answer(401, {});
  if (pathname === "/api/v1/user") return answer(200, { login: "robot" });
  if (!/^\/api\/v1\/repos\/acme\/site\/statuses\/[0-9a-f]{40}$/.test(pathname)) return answer(404, {});
  void json(request).then((body) => {
    if (statusResponse === 201) statuses.push({ path: pathname, body: body as Status["body"] });
    return answer(statusResponse, {});
  });
  return true;
}

beforeAll(async () => {
  const { path: folder } = resources.use(await temporaryFolder());
  host = resources.use(await gitServer(folder, respondAsGitea));
  const limited = { ...BUILT_IN_PLANS["scale"]!, deploys: { limit: 3, windowSeconds: 6 } };
  const config = {
    gitBaseUrl: "http://127.0.0.1:1",
    gitPrivateNetworks: ["127.0.0.1"],
    plans: { ...BUILT_IN_PLANS, limited },
  };
  harness = resources.use(await createHarness({ worker: true, sharesBuilds: true, config }));
  repository = await Repository.create(folder, "acme/site");
});
afterAll(() => resources.disposeAsync());

const commitPage = (text: string) => repository.commitFiles({ "index.html": text });

interface PushedApp {
  tenant: Tenant;
  id: string;
  url: string;
  hook: string;
  secret: string;
  commit: string;
}

/** An app that the first commit of the repository has made, with push to deploy. */
async function pushedApp(settings: object = {}, plan?: string): Promise<PushedApp> {
  const tenant = await harness.tenant(plan === undefined ? {} : { plan });
  const connection = { kind: "gitea", url: host.url, token: TOKEN };
  expect((await tenant.rest.post("/v1/git-connections", connection)).status).toBe(201);
  const commit = await commitPage(`first ${randomUUID()}`);
  const { body } = await tenant.rest.deploy({ repo: "acme/site" });
  const id = String(body["app_id"]);
  const { body: app } = await harness.waitForStatus(tenant, id);
  expect(app["status"]).toBe("ready");
  const { status, body: push } = await setPush({ tenant, id }, { enabled: true, ...settings });
  expect(status).toBe(200);
  return { tenant, id, url: String(app["url"]), hook: String(push["url"]), secret: String(push["secret"]), commit };
}

function setPush({ tenant, id }: Pick<PushedApp, "tenant" | "id">, settings: object) {
  const request = { headers: { "content-type": "application/json" }, body: JSON.stringify(settings) };
  return tenant.rest.send("PUT", `/v1/apps/${id}/push-deploy`, request);
}

async function post(hook: string, { headers, body }: GivenDelivery) {
  const response = await fetch(hook, { method: "POST", headers, body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const push = (
  { hook, secret }: PushedApp,
  given: GivenPush,
  format: HostFormat = "github",
  id: string = randomUUID(),
) => post(hook, givenDelivery(format, secret, id, given));

async function deliveries({ tenant, id }: PushedApp) {
  const { body } = await tenant.rest.get(`/v1/apps/${id}/push-deliveries`);
  return body["deliveries"] as Record<string, unknown>[];
}

async function deployments({ tenant, id }: PushedApp) {
  const { body } = await tenant.rest.get(`/v1/apps/${id}/deployments`);
  return body["deployments"] as Record<string, unknown>[];
}

/** Waits until the delivery has made a deployment, and that has ended. */
const deployed = (app: PushedApp, deliveryId: unknown, status = "ready") =>
  waitFor(async () => {
    const delivery = (await deliveries(app)).find(({ id }) => id === deliveryId);
    expect(delivery).toMatchObject({ result: "deployed", deployment: { status } });
    return delivery!;
  });

for (const format of ["github", "gitlab", "gitea", "bitbucket"] as const)
  verifies("push.deploy", `a push is deployed as ${format} reports it`, async () => {
    const app = await pushedApp();
    const commit = await commitPage(`pushed by ${format}`);
    const pushed = { before: app.commit, commit, message: `Change\u001b[31m it\n\nbody`, modified: ["index.html"] };
    const id = randomUUID();
    const answer = await push(app, pushed, format, id);
    expect(answer).toMatchObject({ status: 202, body: { result: "queued", reason: null } });
    const delivery = await deployed(app, answer.body["id"]);
    expect(delivery).toMatchObject({ source: format, ref: "refs/heads/main", commit, message: "Change it" });
    expect((await appRequest(app.url)).text).toBe(`pushed by ${format}`);
    expect((await deployments(app))[0]).toMatchObject({ number: 2, trigger: "push", commit, branch: "main" });
    // The host repeats it, also with another id.
    expect((await push(app, pushed, format, id)).body["id"]).toBe(answer.body["id"]);
    await push(app, pushed, format);
    await waitFor(async () => expect((await deliveries(app)).every(({ result }) => result !== "queued")).toBe(true));
    expect(await deployments(app)).toHaveLength(2);
    expect(harness.logged()).not.toContain(app.secret);
  });

test("only the holder of the secret is answered, and only at the URL of the app", async () => {
  const [app, other] = [await pushedApp(), await pushedApp()];
  const commit = await commitPage("forged");
  const refused = { status: 404, body: { error: expect.stringContaining("No webhook accepts this delivery") } };
  const delivery = givenDelivery("github", other.secret, randomUUID(), { commit });
  expect(await post(app.hook, delivery)).toEqual(refused);
  expect(await post(app.hook.replace(/[^/]+$/, randomUUID()), delivery)).toEqual(refused);
  expect(await post(app.hook.replace(/[^/]+$/, "none"), delivery)).toEqual(refused);
  for (const format of ["github", "gitlab", "gitea", "bitbucket"] as const) {
    expect(await post(app.hook, givenDelivery(format, "", randomUUID(), { commit }))).toEqual(refused);
    const changed = givenDelivery(format, app.secret, randomUUID(), { commit });
    const unsigned = Object.entries(changed.headers).filter(([name]) => !/signature|token/.test(name));
    expect(await post(app.hook, { ...changed, headers: Object.fromEntries(unsigned) })).toEqual(refused);
  }
  // GitLab sends its secret, and signs nothing.
  for (const format of ["github", "gitea", "bitbucket"] as const) {
    const signed = givenDelivery(format, app.secret, randomUUID(), { commit });
    expect(await post(app.hook, { ...signed, body: `${signed.body} ` })).toEqual(refused);
  }
  expect(await deliveries(app)).toEqual([]);
  await setPush(app, { enabled: false });
  expect(await push(app, { commit })).toEqual(refused);
  expect((await setPush(app, { enabled: true })).body).toMatchObject({ url: app.hook, secret: null });
  const { body } = await app.tenant.rest.post(`/v1/apps/${app.id}/push-deploy/rotate-secret`, {});
  expect(await push(app, { commit })).toEqual(refused);
  expect((await push({ ...app, secret: String(body["secret"]) }, { commit })).status).toBe(202);
});

test("a delivery that asks for no deployment says why", async () => {
  const app = await pushedApp({ paths: ["src/**", "!**/*.md"] });
  const commit = await commitPage("skipped");
  const modified = ["src/index.ts"];
  const cases: [GivenPush, string, string][] = [
    [{ commit, ref: "refs/heads/next", modified }, "skipped", "another branch than main"],
    [{ commit, ref: "refs/tags/v1", modified }, "skipped", "of a tag"],
    [{ commit: "0".repeat(40) }, "skipped", "was deleted"],
    [{ commit, modified, repo: "acme/other" }, "refused", "another repository (acme/other), not to acme/site"],
    [{ commit, modified, message: "Fix\n\n[skip ci]" }, "skipped", "has [skip ci]"],
    [{ commit, modified, message: "[Deploy Skip] fix" }, "skipped", "has [deploy skip]"],
    [{ commit, modified: ["docs/a.ts"], added: ["src/a.md"] }, "skipped", "No changed file matches"],
    [{ commit: "main; rm -rf /", modified }, "refused", "no valid commit id"],
  ];
  for (const [given, result, reason] of cases)
    expect((await push(app, given)).body).toMatchObject({ result, reason: expect.stringContaining(reason) });
  const ping = givenDelivery("github", app.secret, randomUUID(), { commit });
  const tested = { ...ping, headers: { ...ping.headers, "x-github-event": "ping" } };
  expect((await post(app.hook, tested)).body).toMatchObject({
    result: "skipped",
    reason: expect.stringContaining("tested"),
  });
  expect(await deployments(app)).toHaveLength(1);
  // The name of the owner has no case, and files that are not all listed may match.
  const partial = { commit, repo: "Acme/Site", modified: ["docs/a.ts"], total: 21 };
  await deployed(app, (await push(app, partial, "gitlab")).body["id"]);
});

test("pushes that arrive together deploy the newest commit, also in the wrong order", async () => {
  const app = await pushedApp();
  const commits: string[] = [app.commit];
  for (const n of [1, 2, 3, 4]) commits.push(await commitPage(`version ${n}`));
  const at = (n: number) => push(app, { before: commits[n - 1]!, commit: commits[n]!, modified: ["index.html"] });
  await at(1);
  await at(2);
  const newest = await at(4);
  expect((await at(3)).body).toMatchObject({ result: "skipped", reason: "A later push arrived before it." });
  await deployed(app, newest.body["id"]);
  expect((await appRequest(app.url)).text).toBe("version 4");
  const all = await deployments(app);
  expect(all.filter(({ commit }) => commit === commits[4])).toHaveLength(1);
  for (const { status } of all.slice(1)) expect(["superseded", "canceled"]).toContain(status);
});

test("a push beyond the deploy limit waits, and is deployed when the limit allows it", async () => {
  const app = await pushedApp({}, "limited");
  let before = app.commit;
  let last: unknown;
  for (const n of [1, 2, 3]) {
    const commit = await commitPage(`limited ${n} ${app.id}`);
    last = (await push(app, { before, commit, modified: ["index.html"] })).body["id"];
    before = commit;
    await waitFor(async () => {
      const [newest] = await deliveries(app);
      expect(newest!["result"] === "deployed" || newest!["reason"] !== null).toBe(true);
    });
  }
  await deployed(app, last);
  expect((await appRequest(app.url)).text).toBe(`limited 3 ${app.id}`);
});

test("the git host shows how the deployment of a commit went, and its refusal changes nothing", async () => {
  const app = await pushedApp();
  const good = await commitPage("good");
  await deployed(app, (await push(app, { before: app.commit, commit: good }, "gitea")).body["id"]);
  const statesOf = (commit: string) =>
    statuses.filter(({ path }) => path.endsWith(commit)).map(({ body }) => body["state"]);
  await waitFor(() => expect(statesOf(good).at(-1)).toBe("success"));
  const { body: detail } = await app.tenant.rest.get(`/v1/apps/${app.id}`);
  expect(statuses.at(-1)!.body).toEqual({
    state: "success",
    context: `deploy/${String(detail["slug"])}`,
    description: "Deployment 2: live",
    target_url: `${harness.service.publicUrl}/apps/${app.id}/deployments/2`,
  });
  const broken = await repository.commitFiles({ "package.json": `{"scripts":{"build":"exit 1"}}` });
  await deployed(app, (await push(app, { before: good, commit: broken }, "gitea")).body["id"], "failed");
  await waitFor(() => expect(statesOf(broken).at(-1)).toBe("failure"));
  statusResponse = 403;
  const last = await commitPage("last");
  await deployed(app, (await push(app, { before: broken, commit: last }, "gitea")).body["id"]);
  await waitFor(async () =>
    expect((await deliveries(app))[0]!["status_problem"]).toContain("may not write commit statuses"),
  );
  statusResponse = 201;
  expect((await appRequest(app.url)).text).toBe("last");
});

verifies(
  "push.deploy",
  "with polling, a new commit is deployed without a webhook, and a problem is shown once",
  async () => {
    const app = await pushedApp({ poll: true });
    const look = async () => {
      const em = harness.service.parts.orm.em.fork();
      await em.execute(`update push_endpoints set next_poll_at = now() where app_id = ?`, [app.id]);
    };
    const reasons = async () => (await deliveries(app)).map(({ source, result, reason }) => [source, result, reason]);
    await waitFor(async () =>
      expect(await reasons()).toEqual([["poll", "skipped", "This commit is deployed already, or is about to be."]]),
    );
    const commit = await commitPage("polled");
    await look();
    await waitFor(async () => {
      expect((await deployments(app))[0]).toMatchObject({ number: 2, trigger: "push", commit, status: "ready" });
    });
    expect((await appRequest(app.url)).text).toBe("polled");
    await setPush(app, { enabled: true, branch: "none" });
    await look();
    const problem = ["poll", "refused", `The repository has no branch "none".`];
    await waitFor(async () => expect((await reasons())[0]).toEqual(problem));
    await look();
    await setPush(app, { enabled: true, branch: null });
    await waitFor(async () =>
      expect((await reasons())[0]).toEqual(["poll", "skipped", expect.stringContaining("already")]),
    );
    expect((await reasons()).filter(([, result]) => result === "refused")).toHaveLength(1);
    expect(await deployments(app)).toHaveLength(2);
  },
);
