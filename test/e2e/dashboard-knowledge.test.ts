import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();

/** The files of a folder, by their paths. */
const HANDBOOK: Readonly<Record<string, string>> = {
  "handbook/travel/trains.md": `# Travel

## Trains

Employees travel by train in **first class** when the trip takes more than four hours. A seat is always reserved.

## Flights

<script>alert("run")</script> ![A plane](https://images.example/plane.png) [Click me](javascript:alert(1))

A flight needs the approval of a manager.

## Daily allowance

| Country | Full day |
| ------- | -------- |
| Germany | 28 euros |
| France  | 53 euros |
`,
  "handbook/office/parking.txt": "Parking behind the house is free.",
  "handbook/office/plan.psd": "no document",
  "handbook/.git/config": "hidden",
};

async function openApi() {
  const { url, owner, organizationId } = organization();
  return rpcClient(url, await owner.accessToken(), { "x-service-org-id": organizationId });
}

/** Drops a folder. A test cannot hold one as a user does, so the entries of the event are made of its files. */
async function dropFolder(page: Page, folder: Readonly<Record<string, string>>): Promise<void> {
  await page.getByTestId("drop-zone").evaluate((zone, files) => {
    type Tree = Map<string, Tree | string>;
    const root: Tree = new Map();
    for (const [path, text] of Object.entries(files)) {
      const names = path.split("/");
      const name = names.pop() ?? "";
      let level = root;
      for (const part of names) {
        const next = level.get(part);
        const below: Tree = next instanceof Map ? next : new Map<string, Tree | string>();
        level.set(part, below);
        level = below;
      }
      level.set(name, text);
    }
    const entryOf = (name: string, above: string, content: Tree | string): object => {
      const fullPath = `${above}/${name}`;
      if (typeof content === "string")
        return {
          name,
          fullPath,
          isDirectory: false,
          file: (resolve: (file: File) => void) => resolve(new File([content], name)),
        };
      const children = [...content].map(([child, below]) => entryOf(child, fullPath, below));
      return {
        name,
        fullPath,
        isDirectory: true,
        createReader: () => ({ readEntries: (resolve: (entries: object[]) => void) => resolve(children.splice(0, 1)) }),
      };
    };
    const items = [...root].map(([name, content]) => ({ webkitGetAsEntry: () => entryOf(name, "", content) }));
    const event = new Event("drop", { bubbles: true, cancelable: true });
    Object.defineProperty(event, "dataTransfer", { value: { items, types: ["Files"] } });
    zone.dispatchEvent(event);
  }, folder);
}

test.skipIf(lacksBrowser)(
  "a member drops a folder, asks a question, and opens the document at the cited passage",
  async () => {
    const { url, organizationId, member } = organization();
    const page = await openAs(browser(), member, `${url}/knowledge?org=${organizationId}`);
    const requested: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).host));
    await page.getByText("No documents yet.").waitFor();
    await page.getByLabel("Kind of the files").selectOption("SOP");
    await dropFolder(page, HANDBOOK);
    await page.getByText("2 added, 1 skipped, 1 hidden file or folder left out.").waitFor();
    const uploaded = page.getByRole("list", { name: "Uploaded files" });
    await uploaded.getByText("The type .psd is not read.").waitFor();
    await page.getByRole("cell", { name: "handbook/travel/trains.md" }).waitFor();
    await expectAccessible(page);
    await dropFolder(page, HANDBOOK);
    await page.getByText("2 unchanged, 1 skipped, 1 hidden file or folder left out.").waitFor();

    await page.getByLabel("Question").fill("In which class do employees travel by train?");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    const answer = page.getByRole("region", { name: "Answer" });
    const card = answer.getByRole("listitem").first();
    await card.getByText("Trains › SOP").waitFor();
    const quote = await card.locator("mark").innerText();
    expect(quote).toBe("Employees travel by train in first class when the trip takes more than four hours.");
    await expectAccessible(page);
    await card.getByRole("link", { name: "Travel" }).click();

    const text = page.getByRole("region", { name: "Text", exact: true });
    await text.locator("mark").first().waitFor();
    expect((await text.locator("mark").allInnerTexts()).join("")).toBe(quote);
    await expect
      .poll(() =>
        text
          .locator("mark")
          .first()
          .evaluate((mark) => mark.matches(":focus")),
      )
      .toBe(true);
    const outline = page.getByRole("navigation", { name: "Outline" });
    expect(await outline.getByRole("link").allInnerTexts()).toEqual(["Travel", "Trains", "Flights", "Daily allowance"]);
    await outline.getByRole("link", { name: "Flights" }).click();
    await expect.poll(() => new URL(page.url()).hash).toBe("#section-flights");
    await text.getByText('<script>alert("run")</script>').waitFor();
    await text.getByText("[Image: A plane]").waitFor();
    expect(await text.getByRole("link", { name: "Click me" }).count()).toBe(0);
    await expectAccessible(page);

    await page.goto(`${url}/knowledge?org=${organizationId}&ask=How+much+is+the+allowance+in+France%3F`);
    await answer.getByRole("listitem").first().getByText("Daily allowance › SOP").waitFor();
    await answer.getByRole("link", { name: "Travel" }).click();
    await text.locator("mark").first().waitFor();
    expect(
      await text
        .getByRole("cell")
        .filter({ has: page.locator("mark") })
        .allInnerTexts(),
    ).toEqual(["France", "53 euros"]);
    await page.goBack();
    await answer.getByRole("link", { name: "Travel" }).waitFor();
    expect([...new Set(requested)]).toEqual([new URL(url).host]);
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "a question without an answer says what to do, and the filters of the list are in the URL",
  async () => {
    const { url, organizationId, member } = organization();
    const api = await openApi();
    await api.knowledge.add.mutate({
      kind: "pricing",
      title: "Prices of 2026",
      content: "The Team plan costs 49 euros.",
    });
    await api.knowledge.add.mutate({ kind: "faq", title: "Support", content: "Support is open on weekdays." });
    const page = await openAs(browser(), member, `${url}/knowledge?org=${organizationId}&ask=xylophone+zebra`);
    await page.getByText("No document answers this.").waitFor();
    await page.getByRole("link", { name: "upload one that does" }).waitFor();
    await page.getByLabel("Search documents").fill("2026");
    await page.getByLabel("Kind of the documents").selectOption("Pricing");
    await page.getByRole("link", { name: "Prices of 2026" }).waitFor();
    expect(await page.getByRole("link", { name: "Support" }).count()).toBe(0);
    await page.reload();
    await page.getByRole("link", { name: "Prices of 2026" }).waitFor();
    expect(await page.getByLabel("Kind of the documents").inputValue()).toBe("pricing");
    await page.getByLabel("Kind of the documents").selectOption("FAQ");
    await page.getByText("No document matches. Change the search or the kind.").waitFor();
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "an upload continues after a failure, is repeated, and asks before the page is left",
  async () => {
    const { url, organizationId, member } = organization();
    const { project_id: id } = await (await openApi()).projects.create.mutate({ name: "Acme", kind: "client" });
    const page = await openAs(browser(), member, `${url}/projects/${id}?org=${organizationId}`);
    let failures = 1;
    const held = Promise.withResolvers<void>();
    await page.route("**/v1/projects/*/documents", async (route) => {
      if (failures-- > 0) return route.abort();
      await held.promise;
      return route.continue();
    });
    const files = ["one", "two", "three"].map((name) => ({
      name: `${name}.md`,
      mimeType: "text/markdown",
      buffer: Buffer.from(`# ${name}\n\nThe text of ${name}.`),
    }));
    await page.locator('input[aria-label="Files"]').setInputFiles(files);
    await page.getByText("Cannot reach the service. Try again.").waitFor();
    await page.getByRole("link", { name: "Projects", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Leave while files are uploaded?" });
    await dialog.getByRole("button", { name: "Stay" }).click();
    held.resolve();
    await page.getByText("2 added, 1 not stored.").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("3 added.").waitFor();
    await page.getByRole("link", { name: "two", exact: true }).click();
    await page.getByText("The text of two.").first().waitFor();
    await expectAccessible(page);
    expect(browser().problems).toEqual([]);
  },
);
