import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { confirmInDialog, fillIn, openAs, waitForStatus } from "../support/clients/dashboard.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { signUpOwner } from "../support/identity/organization-members.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";

const { harness, repositories } = repositoriesHarness({ sharesBuilds: true });
const browser = sharedBrowser();

const openTab = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "This app" }).getByRole("link", { name, exact: true }).click();

test.skipIf(lacksBrowser)(
  "a member creates an environment, and promotes it after a question with both commits",
  async () => {
    const tenant = await harness().tenant();
    const owner = await signUpOwner(harness(), tenant);
    const repository = await Repository.create(repositories(), "acme/shop");
    const main = await repository.commitFiles({ "index.html": "sold" });
    const next = await repository.commitFiles({ "index.html": "tried" }, "next");
    const { body } = await tenant.rest.deploy({ repo: "acme/shop" });
    await harness().waitForStatus(tenant, String(body["app_id"]));
    const { publicUrl } = harness().service;
    const page = await openAs(
      browser(),
      owner,
      `${publicUrl}/apps/${String(body["app_id"])}/environments?org=${tenant.org_id}`,
    );
    const panel = page.getByRole("region", { name: "Environments" });
    await panel.getByRole("row", { name: "production" }).waitFor();
    await panel.getByRole("button", { name: "New environment" }).click();
    await expectAccessible(page);
    await fillIn(page, { Name: "staging", Branch: "next" });
    await page.getByRole("dialog").getByRole("button", { name: "Create environment" }).click();
    await page.getByRole("heading", { level: 1, name: "shop (staging)" }).waitFor();
    await waitForStatus(page, "ready");
    await page.locator("main header").getByText("Environment staging of production").waitFor();
    await openTab(page, "Environments");
    await panel
      .getByRole("row", { name: "staging" })
      .getByRole("cell", { name: next.slice(0, 7), exact: true })
      .waitFor();
    await expectAccessible(page);
    await panel.getByRole("link", { name: "production", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "shop", exact: true }).waitFor();
    await openTab(page, "Environments");
    await panel.getByRole("button", { name: "Promote staging" }).click();
    const dialog = page.getByRole("dialog", { name: "Promote staging to production?" });
    await dialog.getByText(`from ${main.slice(0, 7)} (main) to ${next.slice(0, 7)} (next)`).waitFor();
    await expectAccessible(page);
    await confirmInDialog(page, "Promote");
    await page.getByRole("region", { name: "Deployment #2" }).getByText("Promotion from staging").waitFor();
    await waitForStatus(page, "ready");
    expect((await appRequest(String(body["url"]))).text).toBe("tried");
    await page.goto(`${publicUrl}/apps?org=${tenant.org_id}`);
    await page.getByRole("listitem").getByText("Environment staging").waitFor();
    await expectAccessible(page);
  },
);
