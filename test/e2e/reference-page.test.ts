import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
const browser = sharedBrowser();

test.skipIf(lacksBrowser)("a user finds an operation in the REST reference, and copies its command line", async () => {
  const page = await browser().open({ permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(`${service().service.publicUrl}/docs`);
  await page.keyboard.press("/");
  await page.keyboard.type("rotate token");
  const operations = page.getByRole("article");
  await expect.poll(() => operations.count()).toBe(3);
  await expect.poll(() => page.getByRole("status").textContent()).toBe("3 operations");
  const links = page.getByRole("navigation").getByRole("listitem");
  const found = ["Replace an app's token POST", "Rotate a token POST"];
  expect(await links.allTextContents()).toEqual(expect.arrayContaining(found));
  await links.filter({ hasText: "Rotate a token" }).getByRole("link").click();
  const rotate = page.locator("article:target");
  await rotate.getByRole("button", { name: "Copy" }).click();
  await rotate.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toContain("/v1/tokens/$TOKEN_ID/rotate");
  // The schema is outside of what was found: the link to it ends the search.
  await rotate.getByRole("link", { name: "IssuedToken" }).first().click();
  await page.getByRole("heading", { name: "IssuedToken", exact: true }).waitFor();
  expect(await page.getByRole("searchbox").inputValue()).toBe("");
  expect(browser().problems).toEqual([]);
});

test.skipIf(lacksBrowser)("the REST reference is accessible in both themes and on a phone", async () => {
  const page = await browser().open();
  await page.goto(`${service().service.publicUrl}/docs`);
  // Two of the operations, of which the second has a request body: axe would need a minute for all of them.
  await page.getByRole("searchbox").fill("rotate token");
  await page.evaluate("for (const hidden of document.querySelectorAll('[hidden]')) hidden.remove()");
  await page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true");
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1440, 360]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await expectAccessible(page);
    }
});
