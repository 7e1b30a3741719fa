import { randomInt, randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { App } from "../../domain/apps/app.entity.ts";
import { deploymentLogKey, LOG_BUCKET } from "../../domain/apps/app-resources.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { createOrganization, fillIn, openAs } from "../support/clients/dashboard.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";
import { CLIENTS, type SocialProviders, startSocialProviders } from "../support/identity/social-providers.ts";
import { TestUser } from "../support/identity/test-user.ts";

const { service, organization } = sharedOrganization({ social: CLIENTS });
const browser = sharedBrowser();

const LONG_NAME = "a-repository-with-a-name-that-is-as-long-as-names-of-repositories-ever-are";
const REASON = `npm run build failed: ${"x".repeat(80)}`;
const LOG = `[service] Cloning acme/site (main).\n${"wide ".repeat(60)}\n`;
let tenant: { org_id: string; user_id: string };
let failedApp: App;
let providers: SocialProviders;
beforeAll(async () => {
  providers = await startSocialProviders();
  const { owner, organizationId, invite } = organization();
  const { body } = await owner.get("/get-session");
  tenant = { org_id: organizationId, user_id: (body["user"] as { id: string }).id };
  const { givenApp } = service();
  const failure = { status: "failed", error: REASON, statusMessage: "Correct the source, then deploy again." } as const;
  await givenApp(tenant, { name: "guestbook" });
  failedApp = await givenApp(tenant, { name: LONG_NAME, ...failure });
  await writeLog(failedApp);
  await invite(owner, `${"invited-".repeat(7)}@example.com`, "owner");
});
afterAll(() => providers[Symbol.asyncDispose]());

/** Stores the log of an app's deployment, as a worker does. */
async function writeLog({ id }: App): Promise<void> {
  const { objects } = service().service.parts.deploymentDeps;
  await objects.put(LOG_BUCKET, deploymentLogKey(id, 1), new TextEncoder().encode(LOG));
}

const pageUrl = (path: string) => `${organization().url}${path}?org=${organization().organizationId}`;

/** Returns a list to which every document that the page loads from now on is added. */
function recordLoads(page: Page): string[] {
  const loads: string[] = [];
  page.on("request", (request) => {
    if (request.isNavigationRequest()) loads.push(request.url());
  });
  return loads;
}

/** By how many pixels the page is wider than the screen, and the controls beyond the edge. Runs in the page. */
const MEASURE_WIDTH = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const controls = [...document.querySelectorAll("a:not(.sr-only), button, input, select")];
  // The tabs of an app scroll on their own.
  const isOutside = (control) =>
    control.getBoundingClientRect().right > clientWidth && control.closest("nav.overflow-x-auto") === null;
  const beyond = controls.filter(isOutside);
  return { overflow: scrollWidth - clientWidth, beyond: beyond.map((control) => control.outerHTML) };
})()`;

test.skipIf(lacksBrowser)(
  "an app that failed shows why, and the log of its deployment, without a reload of the document",
  async () => {
    const page = await openAs(browser(), organization().member, pageUrl("/apps"));
    const row = page.getByRole("listitem").filter({ hasText: LONG_NAME });
    await row.getByText("failed", { exact: true }).waitFor();
    await row.getByText("Correct the source, then deploy again.").waitFor();
    await expectAccessible(page);
    const loads = recordLoads(page);
    await page.getByRole("link", { name: LONG_NAME, exact: true }).click();
    await page.getByRole("heading", { name: LONG_NAME }).waitFor();
    await page.getByText(REASON).waitFor();
    await page.getByText("Correct the source, then deploy again.").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "#1", exact: true }).click();
    await page.getByRole("region", { name: "Build log" }).getByText("Cloning acme/site (main).").waitFor();
    await expectAccessible(page);
    expect(loads).toEqual([]);
    // The URL of the page can be opened directly.
    const response = await page.reload();
    expect(response?.status()).toBe(200);
    await page.getByRole("region", { name: "Build log" }).getByText("Cloning acme/site (main).").waitFor();
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("the apps page and the page of a deployment follow it until it ends", async () => {
  const { owner } = organization();
  const { givenApp, service: running } = service();
  const app = await givenApp(tenant, { name: "site", status: "building" });
  const page = await openAs(browser(), owner, pageUrl("/apps"));
  const row = page.getByRole("listitem").filter({ hasText: "site" });
  await row.getByText("building", { exact: true }).waitFor();
  const log = await openAs(browser(), owner, pageUrl(`/apps/${app.id}/deployments/1`));
  await log.getByText("No output yet.").waitFor();
  await writeLog(app);
  await log.getByText("Cloning acme/site (main).").waitFor();
  const em = running.parts.orm.em.fork();
  await em.nativeUpdate(Deployment, { appId: app.id }, { status: "ready" });
  await em.nativeUpdate(App, { id: app.id }, { status: "ready" });
  await row.getByText("ready", { exact: true }).waitFor();
  await log.getByRole("region", { name: "Deployment #1" }).getByText("ready", { exact: true }).waitFor();
  expect(browser().problems).toEqual([]);
});

test.skipIf(lacksBrowser)(
  "a page shows a placeholder while it loads, and an error with a button to try again",
  async () => {
    const { owner } = organization();
    const page = await openAs(browser(), owner, pageUrl("/settings/account"));
    await page.getByText("No clients yet.").waitFor();
    let allow: (isReachable: boolean) => void = () => {};
    const isAllowed = new Promise<boolean>((resolve) => (allow = resolve));
    await page.route(/\/(trpc|list-)/, async (route) => ((await isAllowed) ? route.continue() : route.abort()));
    for (const [name, empty] of [
      ["Apps", "No apps yet."],
      ["Tokens", "No API keys yet."],
      ["Members", "No pending invitations."],
    ] as const) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
      await page.getByText("Loading…").first().waitFor();
      expect([name, await page.getByText(empty).count()]).toEqual([name, 0]);
    }
    allow(false);
    const retry = page.getByRole("region", { name: "Members" }).getByRole("button", { name: "Try again" });
    await retry.waitFor();
    expect(await page.getByRole("alert").first().textContent()).toBe("Cannot reach the service. Try again.");
    await expectAccessible(page);
    await page.unroute(/\/(trpc|list-)/);
    await retry.click();
    await page.getByRole("cell", { name: owner.email }).waitFor();
    expect(await retry.count()).toBe(0);
    // A browser without a network still reaches a service on the same device, so calls must not wait for a network.
    await page.context().setOffline(true);
    await page.getByRole("link", { name: "Apps", exact: true }).click();
    await page.getByRole("main").getByRole("button", { name: "Try again" }).waitFor();
  },
);

test.skipIf(lacksBrowser)("each page opens at its URL, and none is wider than a screen of 360 pixels", async () => {
  const { owner, url } = organization();
  const narrow = { viewport: { width: 360, height: 740 } };
  const api = rpcClient(url, await owner.accessToken());
  const { servers } = await api.servers.list.query({});
  const agentId = servers[0]?.agent.agent_id;
  const name = "Acme ".repeat(19).trim();
  const { project_id: projectId } = await api.projects.create.mutate({ name, kind: "client" });
  const tabs = [
    "",
    "/deployments",
    "/deployments/1",
    "/environments",
    "/logs",
    "/procedures",
    "/variables",
    "/storage",
    "/settings",
  ];
  const paths = [
    "/",
    "/apps",
    "/apps/new",
    ...tabs.map((tab) => `/apps/${failedApp.id}${tab}`),
    "/agents",
    `/agents/${agentId}`,
    "/knowledge",
  ];
  paths.push("/skills", "/projects", `/projects/${projectId}`, "/usage", "/connect");
  paths.push("/settings/tokens", "/settings/members", "/settings/organization", "/settings/audit");
  const page = await openAs(browser(), owner, pageUrl("/settings/account"), narrow);
  const problems: string[] = [];
  const measure = async (path: string) => {
    await page.goto(path);
    await page
      .getByRole("heading", { level: 1 })
      .or(page.getByRole("heading", { level: 2 }))
      .first()
      .waitFor();
    await page.getByText("Loading…").first().waitFor({ state: "detached" });
    const found = await page.evaluate<{ overflow: number; beyond: string[] }>(MEASURE_WIDTH);
    if (found.overflow > 0 || found.beyond.length > 0) problems.push(`${path} ${JSON.stringify(found)}`);
  };
  for (const path of [...paths, "/settings/account"]) await measure(pageUrl(path));
  for (const path of ["/device", "/consent", "/nowhere", `/invitations/${randomUUID()}`]) await measure(url + path);
  await page.context().clearCookies();
  for (const path of ["/sign-in", "/sign-up"]) await measure(url + path);
  expect([problems, browser().problems]).toEqual([[], []]);
});

test.skipIf(lacksBrowser)(
  "the account page lists connected clients, changes the password and creates an organization, without a reload",
  async () => {
    const { url } = organization();
    const user = new TestUser(url);
    await user.signUp();
    await user.post("/organization/create", { name: "Mine", slug: randomUUID() });
    const oauth = new OAuthRequests(url, user);
    const clientId = await oauth.register({ client_name: "My agent" });
    await oauth.grantTo(clientId, { resource: `${url}/mcp`, scope: "read offline_access" });
    const otherSession = new TestUser(url, user.email);
    await otherSession.signIn();

    const page = await openAs(browser(), user, `${url}/settings/account`);
    await page.getByText(user.email).waitFor();
    await expectAccessible(page);
    const loads = recordLoads(page);
    await page.getByRole("button", { name: "Revoke My agent" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText(`No clients yet.`).waitFor();

    const newPassword = "a new correct horse";
    await fillIn(page, { "Current password": "not the password", "New password": newPassword });
    await page.getByRole("button", { name: "Change password" }).click();
    expect(await page.getByRole("alert").textContent()).toMatch(/password/i);
    await fillIn(page, { "Current password": user.password, "New password": newPassword });
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByText("Password changed.").waitFor();
    expect((await otherSession.get("/get-session")).text).toBe("null");
    expect((await otherSession.signIn()).status).toBe(401);
    expect((await otherSession.signIn(newPassword)).status).toBe(200);

    await createOrganization(page, "Second");
    for (const name of ["Tokens", "Members", "Organization", "Audit log", "Account", "Apps"]) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
    }
    await page.getByRole("button", { name: "Organization: Second" }).click();
    await page.getByRole("menuitemradio", { name: "Mine" }).click();
    await page.getByRole("button", { name: "Organization: Mine" }).waitFor();
    expect(loads).toEqual([]);
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("a user who signed up with GitHub sees no form for a password", async () => {
  const { url } = organization();
  const user = new TestUser(url);
  const { body } = await user.post("/sign-in/social", { provider: "github", callbackURL: "/settings/account" });
  const account = { subject: String(randomInt(2 ** 40)), email: user.email, verified: true };
  const redirect = providers.consent(String(body["url"]), account);
  await user.visit(redirect.pathname + redirect.search);
  await user.post("/organization/create", { name: "Mine", slug: randomUUID() });
  const page = await openAs(browser(), user, `${url}/settings/account`);
  await page.getByText("Your account has no password. You sign in with GitHub.").waitFor();
  expect(await page.getByRole("button", { name: "Change password" }).count()).toBe(0);
  expect(browser().problems).toEqual([]);
});
