import { expect, test } from "vitest";
import { describeBrowser } from "../../clients/dashboard/src/pages/settings/describe-browser.ts";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { fillIn, openAs } from "../support/clients/dashboard.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();

test.skipIf(lacksBrowser)("a user sees their sessions, ends one of them, and then all others", async () => {
  const { url, organizationId, member } = organization();
  const others = [1, 2, 3].map(() => new TestUser(url, member.email, member.password));
  for (const other of others) await other.signIn();
  const page = await openAs(browser(), member, `${url}/settings/account?org=${organizationId}`);
  const sessions = page.getByRole("table", { name: "Sessions" });
  await sessions.getByText("this session").waitFor();
  const rows = sessions.getByRole("row");
  const before = await rows.count();
  await expectAccessible(page);
  // The newest is the first.
  await sessions
    .getByRole("button", { name: /^Sign out / })
    .first()
    .click();
  await expect.poll(() => rows.count()).toBe(before - 1);
  expect((await others[2]?.get("/get-session"))?.text).toBe("null");
  expect((await others[0]?.get("/get-session"))?.text).not.toBe("null");

  await page.getByRole("button", { name: "Sign out everywhere else" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere else" }).click();
  // The header and the session of the page.
  await expect.poll(() => rows.count()).toBe(2);
  expect((await others[0]?.get("/get-session"))?.text).toBe("null");
  await page.reload();
  await sessions.getByText("this session").waitFor();
  expect(browser().problems).toEqual([]);
});

test.skipIf(lacksBrowser)("a user changes their name, which the side bar then shows", async () => {
  const { url, organizationId, admin } = organization();
  const page = await openAs(browser(), admin, `${url}/settings/account?org=${organizationId}`);
  await fillIn(page, { "Your name": "Grace Hopper" });
  await page.getByRole("button", { name: "Change name" }).click();
  await page.getByRole("button", { name: "Grace Hopper", exact: true }).waitFor();
  expect((await admin.get("/get-session")).body["user"]).toMatchObject({ name: "Grace Hopper" });
  expect(browser().problems).toEqual([]);
});

test("a session is described by the browser and the system of its User-Agent", () => {
  const windows =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36";
  expect(describeBrowser(windows)).toBe("Chrome on Windows");
  expect(describeBrowser(`${windows} Edg/148.0.0.0`)).toBe("Edge on Windows");
  expect(
    describeBrowser(
      "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
    ),
  ).toBe("Safari on iOS");
  expect(describeBrowser("Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0")).toBe(
    "Firefox on Linux",
  );
  expect(describeBrowser("curl/8.0")).toBe("Unknown browser");
});
