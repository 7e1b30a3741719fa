import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { instructionsEditor, readEditor, replaceText, saveInstructions } from "../support/clients/editor.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();

/** Opens the page of the main agent, whose instructions are a text. */
async function openInstructions(content: string) {
  const { url, owner, organizationId } = organization();
  const api = rpcClient(url, await owner.accessToken(), { "x-service-org-id": organizationId });
  const { servers } = await api.servers.list.query({});
  const id = servers[0]?.agent.agent_id ?? "";
  await api.instructions.replace.mutate({ id, content });
  const page = await openAs(browser(), owner, `${url}/agents/${id}?org=${organizationId}`);
  await instructionsEditor(page).waitFor();
  const read = async (): Promise<string> => (await api.instructions.get.query({ id })).content;
  const replace = (text: string) => api.instructions.replace.mutate({ id, content: text });
  return { page, read, replace };
}

/** Runs in the page. */
const readStyle = (element: unknown): { fontWeight: string; fontFamily: string } => {
  const { fontWeight, fontFamily } = (globalThis as unknown as StyleReader).getComputedStyle(element);
  return { fontWeight, fontFamily };
};

interface StyleReader {
  getComputedStyle(element: unknown): { fontWeight: string; fontFamily: string };
}

const button = (page: Page, name: string): Locator => page.getByRole("button", { name, exact: true });

test.skipIf(lacksBrowser)("a draft survives leaving the page, and is discarded on request", async () => {
  const { page, read } = await openInstructions("# Rules\nBe brief.\n");
  expect(await button(page, "Review changes").isDisabled()).toBe(true);
  await replaceText(page, instructionsEditor(page), "# Rules\nBe kind.\n");
  await page.getByText(/^Unsaved draft/).waitFor();
  await expectAccessible(page);
  await page.reload();
  await page.getByText(/^Unsaved draft/).waitFor();
  expect(await readEditor(instructionsEditor(page))).toBe("# Rules\nBe kind.\n");
  expect(await read()).toBe("# Rules\nBe brief.\n");

  await button(page, "Discard draft").click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard draft" }).click();
  await page.getByText(/^Revision \d+$/).waitFor();
  expect(await readEditor(instructionsEditor(page))).toBe("# Rules\nBe brief.\n");
  await page.reload();
  await instructionsEditor(page).waitFor();
  expect(await page.getByText(/^Unsaved draft/).count()).toBe(0);
  expect(browser().problems).toEqual([]);
});

test.skipIf(lacksBrowser)("changes are shown before they are saved, and saving them removes the draft", async () => {
  const { page, read } = await openInstructions("# Rules\nBe brief.\nAsk first.\n");
  await replaceText(page, instructionsEditor(page), "# Rules\nBe kind.\nAsk first.\n");
  await instructionsEditor(page).press("Control+s");
  const difference = page.getByRole("textbox", { name: "Changes to the instructions" });
  await difference.getByText("Be kind.").waitFor();
  expect(await difference.locator(".cm-deletedLine").allInnerTexts()).toEqual(["Be brief."]);
  await page.getByText("1 line added, 1 removed.").waitFor();
  await expectAccessible(page);

  await button(page, "Save instructions").click();
  await page.getByText("Instructions saved").waitFor();
  expect(await read()).toBe("# Rules\nBe kind.\nAsk first.\n");
  // The focus is in the editor again.
  await page.keyboard.press("Control+End");
  await page.keyboard.type("Be safe.");
  await expect.poll(() => readEditor(instructionsEditor(page))).toBe("# Rules\nBe kind.\nAsk first.\nBe safe.");
  await page.reload();
  await page.getByText(/^Unsaved draft/).waitFor();
  expect(browser().problems).toEqual([]);
});

test.skipIf(lacksBrowser)(
  "the editor has the styles of the page, and the Tab key leaves it until it should indent",
  async () => {
    const { page } = await openInstructions("# Rules\n");
    // The Content-Security-Policy would report styles that it blocks.
    const heading = instructionsEditor(page).locator("span", { hasText: "Rules" }).last();
    expect((await heading.evaluate(readStyle)).fontWeight).toBe("600");
    expect((await instructionsEditor(page).evaluate(readStyle)).fontFamily).toContain("JetBrains");
    await instructionsEditor(page).click();
    await page.keyboard.press("Tab");
    expect(await instructionsEditor(page).evaluate((element) => element.matches(":focus"))).toBe(false);
    await page.getByLabel(/^Tab key indents/).check();
    await instructionsEditor(page).click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Tab");
    await expect.poll(() => readEditor(instructionsEditor(page))).toBe("  # Rules\n");
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "changes that another user saved meanwhile are merged, and conflicts need a choice",
  async () => {
    const { page, read, replace } = await openInstructions("# Rules\nBe brief.\n\nAsk first.\n\nStop at noon.\n");
    await replaceText(page, instructionsEditor(page), "# My rules\nBe brief.\n\nAsk me first.\n\nStop at noon.\n");
    await replace("# Rules\nBe brief.\n\nAsk Ada first.\n\nStop at one.\n");
    await saveInstructions(page);

    await page.getByText(/^Somebody saved revision \d+ while you were editing/).waitFor();
    const conflict = page.getByRole("group", { name: /^Conflict 1 of 1/ });
    await conflict.getByText("Ask me first.").waitFor();
    await conflict.getByText("Ask Ada first.").waitFor();
    await page.getByRole("textbox", { name: "Your changes" }).getByText("# My rules").waitFor();
    await page.getByRole("textbox", { name: "Their changes" }).getByText("Stop at one.").waitFor();
    expect(await page.getByText("expected_hash").count()).toBe(0);
    expect(await button(page, "Review merged instructions").isDisabled()).toBe(true);
    await expectAccessible(page);

    // The draft is kept, and is still a change of the older version.
    await page.reload();
    await page.getByText("Another version was saved since you began.").waitFor();
    await button(page, "Review changes").click();
    await conflict.getByLabel("Keep both").check();
    await page.getByText("Conflict 1 of 1, resolved").waitFor();
    await expectAccessible(page);
    await button(page, "Review merged instructions").click();
    await page.getByRole("textbox", { name: "Changes to the instructions" }).getByText("# My rules").waitFor();
    await button(page, "Save instructions").click();
    await page.getByText("Instructions saved").waitFor();
    expect(await read()).toBe("# My rules\nBe brief.\n\nAsk me first.\nAsk Ada first.\n\nStop at one.\n");
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("a revision is viewed, and compared with any other", async () => {
  const { page, replace } = await openInstructions("First text\n");
  await replace("Second text\n");
  await replace("Third text\n");
  await page.reload();
  await page
    .getByRole("button", { name: /^View revision/ })
    .first()
    .waitFor();
  const numbers = await page
    .getByRole("button", { name: /^View revision \d+$/ })
    .evaluateAll((buttons) => buttons.map((view) => Number(view.getAttribute("aria-label")?.split(" ").at(-1))));
  const [third = 0, second = 0, first = 0] = numbers;
  await button(page, `View revision ${third}`).click();
  const shown = page.getByRole("region", { name: `Revision ${third}`, exact: true });
  const difference = (before: number): Locator =>
    shown.getByRole("textbox", { name: `Revision ${before} compared with ${third}`, exact: true });
  await difference(second).getByText("Second text").waitFor();
  await shown.getByLabel("Compare with").selectOption(`Revision ${first}`);
  await difference(first).getByText("First text").waitFor();
  await difference(first).getByText("Third text").waitFor();
  await expectAccessible(page);
  await shown.getByLabel("Compare with").selectOption("No other revision");
  await shown
    .getByRole("group", { name: `Content of revision ${third}` })
    .getByText("Third text")
    .waitFor();
  await button(page, "Close").click();
  await shown.waitFor({ state: "detached" });
  expect(browser().problems).toEqual([]);
});
