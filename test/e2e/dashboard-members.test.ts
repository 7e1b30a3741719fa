import { expect, test } from "vitest";
import { ROLE_DESCRIPTIONS } from "../../domain/shared/roles.ts";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { fillIn, openAs, readSecret } from "../support/clients/dashboard.ts";
import { randomEmail, sharedOrganization } from "../support/identity/organization-members.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();

test.skipIf(lacksBrowser)(
  "the invitation form explains the selected role, shows the link with what it does, and starts again",
  async () => {
    const { url, admin, organizationId } = organization();
    const page = await openAs(browser(), admin, `${url}/settings/members?org=${organizationId}`);
    const panel = page.getByRole("region", { name: "Invitations" });
    const role = panel.getByRole("combobox", { name: "Role" });
    await panel.getByText(`${ROLE_DESCRIPTIONS.member}.`).waitFor();
    await role.selectOption("admin");
    await panel.getByText(`${ROLE_DESCRIPTIONS.admin}.`).waitFor();
    const email = randomEmail();
    await fillIn(page, { Email: email });
    await panel.getByRole("button", { name: "Invite" }).click();
    expect(await readSecret(page)).toContain(`${url}/invitations/`);
    await panel.getByText("They join as admin when they sign in with this email address and accept.").waitFor();
    await panel.getByText(`${ROLE_DESCRIPTIONS.member}.`).waitFor();
    expect(await role.inputValue()).toBe("member");
    await expectAccessible(page);
    expect(browser().problems).toEqual([]);
  },
);
