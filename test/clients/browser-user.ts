import type { Page } from "playwright-core";
import { openBrowser } from "../support/clients/browser.ts";
import type { TestUser } from "../support/identity/test-user.ts";

const STEP_TIMEOUT_MS = 30_000;

/** A user who opens the URLs of clients in a browser, signs in and allows access. */
export interface BrowserUser extends AsyncDisposable {
  authorize(url: string): Promise<void>;
}

export async function openBrowserUser(publicUrl: string, user: TestUser): Promise<BrowserUser> {
  const browser = await openBrowser();
  return {
    async authorize(url) {
      const page = await browser.open();
      page.setDefaultTimeout(STEP_TIMEOUT_MS);
      try {
        await allowAccess(page, url, publicUrl, user);
      } catch (error) {
        const text = await page.locator("body").innerText();
        throw new Error(`the user could not allow access at ${new URL(page.url()).pathname}. The page says: ${text}`, {
          cause: error,
        });
      }
      await page.close();
    },
    [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose](),
  };
}

async function allowAccess(page: Page, url: string, publicUrl: string, user: TestUser): Promise<void> {
  await page.goto(url);
  await page.getByLabel("Email").fill(user.email);
  await page.getByLabel("Password").fill(user.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Allow access?" }).waitFor();
  const redirected = page.waitForResponse((response) => isRedirectTarget(response.url(), publicUrl));
  await page.getByRole("button", { name: "Allow" }).click();
  // The client answers the redirect before it ends its loopback server.
  await redirected;
}

function isRedirectTarget(url: string, publicUrl: string): boolean {
  const { protocol, origin } = new URL(url);
  return protocol === "http:" && origin !== new URL(publicUrl).origin;
}
