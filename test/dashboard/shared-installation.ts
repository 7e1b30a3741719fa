import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { sharedBrowser, type TestBrowser } from "../support/clients/browser.ts";
import { readOrganizationId, signUpFirstUser } from "../support/clients/dashboard.ts";
import { createInstallation, type ServiceProcess } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A real service with one user, who owns the organization of the first start. */
export interface SharedInstallation {
  service: ServiceProcess;
  organizationId: string;
  /** The git host of the service: a repository in it is `NAME.git`. */
  repositories: string;
  browser: TestBrowser;
  /** Opens a page in a new browser context, signed in as the owner. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
}

/** Starts one service and one browser for all tests of a file. */
export function sharedInstallation(): () => SharedInstallation {
  const browser = sharedBrowser();
  const stack = new AsyncDisposableStack();
  let shared: SharedInstallation | undefined;
  beforeAll(async () => {
    const { path: repositories } = stack.use(await temporaryFolder());
    const installation = stack.use(await createInstallation());
    const service = await installation.start({ GIT_BASE_URL: `file://${repositories}` });
    const first = await signUpFirstUser({ browser: browser(), publicUrl: service.publicUrl });
    await first.waitForURL(/[?&]org=/);
    const storageState = await first.context().storageState();
    const organizationId = readOrganizationId(first);
    await first.close();
    const open = async (path: string, options: BrowserContextOptions = {}): Promise<Page> => {
      const page = await browser().open({ storageState, ...options });
      await page.goto(`${service.publicUrl}${path}`);
      return page;
    };
    shared = { service, organizationId, repositories, browser: browser(), open };
  });
  afterAll(() => stack.disposeAsync());
  return () => {
    if (shared === undefined) throw new Error("the service of this file has not started");
    return shared;
  };
}
