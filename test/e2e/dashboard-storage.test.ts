import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { givenLiveApp } from "../support/edge/live-app.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { signUpOwner } from "../support/identity/organization-members.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
const browser = sharedBrowser();

const SCRIPT = `export default { async fetch(request, { SETTINGS, FILES }) {
  for (let n = 10; n < 70; n++) await SETTINGS.put("user:" + n, "<b>Ada " + n + "</b>");
  await FILES.put("logo.png", new Uint8Array([0, 1, 2]), { httpMetadata: { contentType: "image/png" } });
  return new Response("stored");
} };`;
const BINDINGS = [
  { type: "kv_namespace", name: "SETTINGS", namespace_id: "settings" },
  { type: "r2_bucket", name: "FILES", bucket_name: "files" },
];

test.skipIf(lacksBrowser)("a member lists the keys and objects of an app, and reads a value as text", async () => {
  const tenant = await service().tenant();
  const owner = await signUpOwner(service(), tenant);
  const app = await givenLiveApp(service(), tenant, { script: SCRIPT, bindings: BINDINGS });
  expect((await appRequest(service().service.parts.deploymentDeps.edge.urlOf(app.slug))).text).toBe("stored");
  const page = await openAs(
    browser(),
    owner,
    `${service().service.publicUrl}/apps/${app.id}/storage?org=${tenant.org_id}`,
  );
  const panel = page.getByRole("region", { name: "Keys and objects" });
  await panel.getByRole("button", { name: "user:10", exact: true }).waitFor();
  expect(await panel.getByRole("button", { name: /^user:/ }).count()).toBe(50);
  await expectAccessible(page);
  await panel.getByRole("button", { name: "Load more" }).click();
  await panel.getByRole("button", { name: "user:69", exact: true }).waitFor();
  await panel.getByLabel("Key begins with").fill("user:4");
  await panel.getByRole("button", { name: "Filter" }).click();
  await expect.poll(() => panel.getByRole("button", { name: /^user:/ }).count()).toBe(10);
  await panel.getByRole("button", { name: "user:42", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "user:42" });
  await dialog.getByText("<b>Ada 42</b>", { exact: true }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await panel.getByLabel("Key begins with").fill("");
  await panel.getByRole("button", { name: "Filter" }).click();
  await panel.getByLabel("Storage").selectOption({ label: "FILES (objects)" });
  await panel.getByRole("cell", { name: "image/png" }).waitFor();
  await panel.getByRole("button", { name: "logo.png" }).click();
  await page.getByRole("dialog").getByText("Binary data, 3 B").waitFor();
});
