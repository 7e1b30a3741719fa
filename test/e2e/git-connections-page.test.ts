import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { APP_ID, type GitHubHost, githubHost, INSTALLATION_ID } from "../support/builds/github-host.ts";
import { type GiteaHost, giteaHost } from "../support/builds/gitea-host.ts";
import { expectAccessible, findViolations, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { confirmInDialog, fillIn, openAs, waitForStatus } from "../support/clients/dashboard.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";
import type { TestUser } from "../support/identity/test-user.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const TOKEN = "private-token-81c3";
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };

const { organization } = sharedOrganization(
  { gitBaseUrl: "http://127.0.0.1:1", gitPrivateNetworks: ["127.0.0.1"] },
  { worker: true },
);
const browser = sharedBrowser();
const resources = new AsyncDisposableStack();
let host: GiteaHost;
let github: GitHubHost;

beforeAll(async () => {
  const { path: folder } = resources.use(await temporaryFolder());
  host = resources.use(await giteaHost(folder, TOKEN));
  github = resources.use(await githubHost(folder));
  const repository = await Repository.create(folder, "acme/site");
  await repository.commitFiles({ "index.html": "main page" });
  await repository.commitFiles({ "index.html": "next page" }, "next");
});
afterAll(() => resources.disposeAsync());

function open(user: TestUser, path: string, options = {}): Promise<Page> {
  const { url, organizationId } = organization();
  return openAs(browser(), user, `${url}${path}?org=${organizationId}`, options);
}

async function connect(page: Page, fields: Record<string, string> = {}): Promise<void> {
  const form = page.getByRole("form", { name: "Connect a git host" });
  await form.getByLabel("Kind").selectOption("gitea");
  for (const [label, value] of Object.entries({ URL: host.url, Token: TOKEN, ...fields }))
    await form.getByLabel(label, { exact: true }).fill(value);
  await form.getByRole("button", { name: "Connect" }).click();
}

test.skipIf(lacksBrowser)(
  "a git host is connected, a repository and a branch of it are chosen by keyboard, and the app is deployed",
  async () => {
    const page = await open(organization().admin, "/settings/git-connections");
    await page.getByText("No git connections yet.").waitFor();
    await expectAccessible(page);
    await connect(page, { Token: "wrong" });
    const token = page.getByRole("form").getByLabel("Token", { exact: true });
    await page.getByText("does not accept it. Check that it is complete").waitFor();
    expect(await token.getAttribute("aria-invalid")).toBe("true");
    await expectAccessible(page);
    await connect(page, { URL: "https://10.0.0.1" });
    await page.getByText("Must not be in a network to which this service does not connect.").waitFor();
    expect(await page.getByLabel("URL", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    await connect(page);
    await page.getByRole("cell", { name: "Gitea or Forgejo" }).waitFor();
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page);
    }
    expect(await page.content()).not.toContain(TOKEN);

    await page.goto(page.url().replace("/settings/git-connections", "/apps/new"));
    const repository = page.getByRole("combobox", { name: "Repository" });
    await repository.pressSequentially("acme/s");
    await page.getByRole("option", { name: "acme/site" }).waitFor();
    expect(await page.getByRole("listbox").getByRole("option").count()).toBe(1);
    // While suggestions are open, Base UI hides the rest of the page from screen readers.
    const hidden = /^(aria-hidden-focus|page-has-heading-one): /;
    expect((await findViolations(page, true)).filter((violation) => !hidden.test(violation))).toEqual([]);
    await repository.press("ArrowDown");
    await repository.press("Enter");
    expect(await repository.inputValue()).toBe("acme/site");
    const branch = page.getByRole("combobox", { name: "Branch" });
    await branch.click();
    await page.getByRole("option", { name: "next" }).waitFor();
    await branch.pressSequentially("ne");
    await page.getByRole("option", { name: "main", exact: true }).waitFor({ state: "detached" });
    await branch.press("ArrowDown");
    await branch.press("Enter");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await waitForStatus(page, "ready");
    const url = await page.getByRole("link", { name: "Open", exact: true }).getAttribute("href");
    expect((await appRequest(url ?? "")).text).toBe("next page");
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("a repository is entered by hand, also where a suggestion could be chosen", async () => {
  const page = await open(organization().owner, "/apps/new", PHONE);
  const repository = page.getByRole("combobox", { name: "Repository" });
  await repository.fill("acme/site");
  await page.getByRole("option", { name: "acme/site" }).waitFor();
  await repository.press("Escape");
  await page.getByRole("listbox").waitFor({ state: "detached" });
  await fillIn(page, { Branch: "main" });
  await page.getByRole("button", { name: "Deploy", exact: true }).tap();
  await waitForStatus(page, "ready");
  const url = await page.getByRole("link", { name: "Open", exact: true }).getAttribute("href");
  expect((await appRequest(url ?? "")).text).toBe("main page");
  expect(browser().problems).toEqual([]);
});

test.skipIf(lacksBrowser)(
  "a token is replaced, and a connection is deleted after its effect was confirmed",
  async () => {
    const page = await open(organization().owner, "/settings/git-connections");
    const name = new URL(host.url).host;
    host.acceptedToken = "second-token";
    await page.getByRole("button", { name: `Replace token of ${name}` }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Token", { exact: true }).fill(TOKEN);
    await dialog.getByRole("button", { name: "Replace token" }).click();
    await dialog.getByText("does not accept it.").waitFor();
    await expectAccessible(page);
    await dialog.getByLabel("Token", { exact: true }).fill("second-token");
    await dialog.getByRole("button", { name: "Replace token" }).click();
    await page.getByText("Token replaced").waitFor();

    const member = await open(organization().member, "/settings/git-connections", PHONE);
    await member.getByText(name).first().waitFor();
    await member.getByText("Role admin or owner required to connect git hosts. Your role is member.").waitFor();
    expect(await member.getByRole("main").getByRole("button").count()).toBe(0);
    await expectAccessible(member);

    await page.getByRole("button", { name: `Delete ${name}` }).click();
    await page.getByText("What reads its private repositories fails from now on").waitFor();
    await expectAccessible(page);
    await confirmInDialog(page, "Delete");
    await page.getByText("No git connections yet.").waitFor();
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("a GitHub App is connected with the file of its private key", async () => {
  const page = await open(organization().admin, "/settings/git-connections");
  const form = page.getByRole("form", { name: "Connect a git host" });
  await form.getByLabel("Kind").selectOption("github_app");
  const submit = async (appId: string, key: string): Promise<void> => {
    await form.getByLabel("App ID").fill(appId);
    await form.getByLabel("URL").fill(github.url);
    const buffer = Buffer.from(key);
    await form.getByLabel("Private key").setInputFiles({ name: "app.pem", mimeType: "application/x-pem-file", buffer });
    await form.getByRole("button", { name: "Connect" }).click();
  };
  await submit(APP_ID, "no key");
  await page.getByText("Must be the text of the .pem file that GitHub generates").waitFor();
  expect(await form.getByLabel("Private key").getAttribute("aria-invalid")).toBe("true");
  await expectAccessible(page);
  await form.getByLabel("Installation ID").fill("9");
  await submit(APP_ID, github.privateKey);
  await page.getByText("The app 4242 is not installed with the id 9. Install it first.").waitFor();
  await form.getByLabel("Installation ID").fill(String(INSTALLATION_ID));
  await submit(APP_ID, github.privateKey);
  await page.getByRole("cell", { name: `GitHub App ${APP_ID}` }).waitFor();
  await page.getByRole("cell", { name: "acme", exact: true }).waitFor();
  await page.getByRole("button", { name: /^Replace key of / }).waitFor();
  expect(browser().problems).toEqual([]);
});
