import { expect, test } from "vitest";
import { SCOPE_DESCRIPTIONS, SCOPES } from "../../domain/shared/scopes.ts";
import { lacksBrowser } from "../support/clients/browser.ts";
import { openDashboard, readSecret, signUpFirstUser } from "../support/clients/dashboard.ts";
import { RestClient } from "../support/clients/rest-client.ts";

test.skipIf(lacksBrowser)("the tokens page describes each scope, and a new token has the chosen one", async () => {
  await using setup = await openDashboard();
  const page = await signUpFirstUser(setup);
  await page.getByRole("link", { name: "Tokens" }).click();
  const descriptions = page.getByRole("region", { name: "Permissions", exact: true });
  for (const scope of SCOPES)
    await descriptions.getByText(SCOPE_DESCRIPTIONS[scope].summary, { exact: true }).waitFor();
  const panel = page.getByRole("region", { name: "API keys", exact: true });
  await panel.getByLabel("Name", { exact: true }).fill("Reader");
  await panel.getByLabel("Permissions", { exact: true }).selectOption("read");
  await panel.getByRole("button", { name: "Create API key" }).click();
  const rest = new RestClient(setup.publicUrl, await readSecret(page));
  expect((await rest.get("/v1/apps")).status).toBe(200);
  expect((await rest.deploy({ repo: "acme/site" })).status).toBe(403);
  expect(setup.browser.problems).toEqual([]);
});
