import type { Page } from "playwright-core";
import { openBrowser } from "../support/clients/browser.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createInstallation } from "../support/service/service-process.ts";

/** The service that all clients connect to, with one user and one app. */
export interface ClientTarget extends AsyncDisposable {
  gatewayUrl: string;
  personalToken: string;
  /** The app that `service_list_apps` returns. */
  appId: string;
  /** Signs in and allows access in a browser. */
  authorize(url: string): Promise<void>;
}

/** Starts the service with default settings and an empty data folder. */
export async function startClientTarget(): Promise<ClientTarget> {
  await using stack = new AsyncDisposableStack();
  const { publicUrl } = await stack.use(await createInstallation()).start();
  // The first user owns the organization of the first start.
  const owner = new TestUser(publicUrl);
  await owner.signUp();
  const accessToken = await owner.accessToken();
  const deployed = await new RestClient(publicUrl, accessToken).post("/v1/apps/deploy", { repo: "examples/hello" });
  if (deployed.status !== 201) throw new Error(`the deployment was rejected: ${deployed.text}`);
  const { tokens } = rpcClient(publicUrl, accessToken);
  const { token } = await tokens.issue.mutate({ kind: "personal_access_token", name: "Clients" });
  const browser = stack.use(await openBrowserUser(publicUrl, owner));
  const started = stack.move();
  return {
    gatewayUrl: `${publicUrl}/mcp`,
    personalToken: token,
    appId: String(deployed.body["app_id"]),
    authorize: (url) => browser.authorize(url),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const STEP_TIMEOUT_MS = 30_000;

/** A user who opens the URLs of clients in a browser, signs in and allows access. */
interface BrowserUser extends AsyncDisposable {
  authorize(url: string): Promise<void>;
}

async function openBrowserUser(publicUrl: string, user: TestUser): Promise<BrowserUser> {
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
