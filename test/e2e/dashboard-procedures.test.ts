import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { App } from "../../domain/apps/app.entity.ts";
import type { DiscoveredProcedure } from "../../domain/ports/procedure-discovery.ts";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { discoveredProcedure, givenLiveApp, givenProcedures } from "../support/edge/live-app.ts";
import { signUpOwner } from "../support/identity/organization-members.ts";
import type { TestUser } from "../support/identity/test-user.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness({ worker: true });
const browser = sharedBrowser();
let tenant: Tenant;
let owner: TestUser;

beforeAll(async () => {
  tenant = await service().tenant();
  owner = await signUpOwner(service(), tenant);
});

const SCRIPT = `export default { async fetch(request) {
  const { title } = await request.json();
  if (title === "") return Response.json({ error: "A task needs a title" }, { status: 422 });
  return Response.json({ id: 7, title });
} };`;

const ADD: Partial<DiscoveredProcedure> = {
  description: "Adds <b>a task</b>",
  inputSchema: {
    type: "object",
    properties: { title: { type: "string", examples: ["Buy milk"] } },
    required: ["title"],
  },
  outputSchema: { type: "object", properties: { id: { type: "integer" } } },
  invocation: {
    via: "openapi",
    method: "POST",
    path: "/tasks",
    parameters: [],
    body: { contentType: "application/json", property: null },
  },
};

const openPage = (id: string): Promise<Page> =>
  openAs(browser(), owner, `${service().service.publicUrl}/apps/${id}/procedures?org=${tenant.org_id}`);

test.skipIf(lacksBrowser)(
  "a user opens a procedure, sees its schemas and its tool, and calls it with the example input",
  async () => {
    const procedures = [discoveredProcedure("tasks.add", "mutation", ADD), discoveredProcedure("tasks.list")];
    const app = await givenLiveApp(service(), tenant, { script: SCRIPT, procedures });
    const page = await openPage(app.id);
    await page.getByText("tasks.list", { exact: true }).waitFor();
    await expectAccessible(page);
    const summary = page.locator("summary", { hasText: "tasks.add" });
    await summary.focus();
    await page.keyboard.press("Enter");
    await page.getByText(`${app.slug}_tasks_add`, { exact: true }).waitFor();
    expect(await page.getByText("Adds <b>a task</b>").count()).toBe(2);
    expect(JSON.parse(await page.getByRole("group", { name: "Input schema of tasks.add" }).innerText())).toEqual(
      ADD.inputSchema,
    );
    expect(JSON.parse(await page.getByRole("group", { name: "Output schema of tasks.add" }).innerText())).toEqual(
      ADD.outputSchema,
    );
    const input = page.getByRole("textbox", { name: "Input of tasks.add" });
    expect(JSON.parse(await input.inputValue())).toEqual({ title: "Buy milk" });
    await page.getByRole("button", { name: "Call" }).click();
    const result = page.getByRole("group", { name: "Result of tasks.add" });
    await result.waitFor();
    expect(JSON.parse(await result.innerText())).toEqual({ id: 7, title: "Buy milk" });
    await expectAccessible(page);

    await input.fill('{"title": ""}');
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByText("Error of the app, status 422").waitFor();
    await page.getByText("A task needs a title").waitFor();
    await expectAccessible(page);
    await input.fill("{title}");
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByText(/^The input is not valid JSON:/).waitFor();
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("the Procedures tab of an app without procedures says how it gets some", async () => {
  const app = await service().givenApp(tenant, { name: "site" });
  const page = await openPage(app.id);
  await page.getByText("This app offers no procedures.").waitFor();
  await expectAccessible(page);
  const building = await service().givenApp(tenant, { name: "new", status: "building" });
  const other = await openPage(building.id);
  await other.getByText("The procedures appear here when the deployment is live.").waitFor();
});

/** Creates an app with the procedures `items.p000` to `items.p119`, which are more than one page. */
async function givenManyProcedures(appName: string, describe = (_name: string) => ""): Promise<App> {
  const app = await service().givenApp(tenant, { name: appName });
  const names = Array.from({ length: 120 }, (_, n) => `items.p${String(n).padStart(3, "0")}`);
  await givenProcedures(
    service(),
    app,
    names.map((name) => discoveredProcedure(name, "query", { description: describe(name) })),
  );
  return app;
}

test.skipIf(lacksBrowser)("a long list of procedures is searched by name and description", async () => {
  const app = await givenManyProcedures("many", (name) => (name === "items.p042" ? "Special" : ""));
  const page = await openPage(app.id);
  await page.getByRole("button", { name: "Load more" }).click();
  await page.getByText("items.p119", { exact: true }).waitFor();
  await page.getByRole("searchbox", { name: "Search procedures" }).fill("special");
  await page.getByText("items.p119", { exact: true }).waitFor({ state: "detached" });
  expect(await page.locator("summary").count()).toBe(1);
  await page.locator("summary", { hasText: "items.p042" }).click();
  await page.getByText("Agents call it from a program, because it is not a tool of its own.").waitFor();
  expect(browser().problems).toEqual([]);
});

test.skipIf(lacksBrowser)("a page that the user is loading arrives although the app changes meanwhile", async () => {
  const app = await givenManyProcedures("changing");
  const page = await openPage(app.id);
  await page.getByText("items.p000", { exact: true }).waitFor();
  const released = Promise.withResolvers<void>();
  await page.route(/procedures\.list.*cursor/, async (route) => {
    await released.promise;
    await route.continue();
  });
  const requested = page.waitForRequest(/procedures\.list.*cursor/);
  await page.getByRole("button", { name: "Load more" }).click();
  await requested;
  const { status } = await tenant.rest.send("PATCH", `/v1/apps/${app.id}`, {
    body: JSON.stringify({ name: "changed" }),
    headers: { "content-type": "application/json" },
  });
  expect(status).toBe(200);
  await page.getByRole("heading", { name: "changed" }).waitFor();
  released.resolve();
  await page.getByText("items.p119", { exact: true }).waitFor();
});
