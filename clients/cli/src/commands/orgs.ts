import type { Command } from "commander";
import type { Output as ProcedureOutput } from "../../../sdk/src/client.ts";
import { CliError } from "../cli-error.ts";
import type { Config } from "../config-file.ts";
import type { Context } from "../context.ts";
import { renderList } from "../render-value.ts";

export function defineOrganizationCommands(program: Command, context: () => Context): void {
  const orgs = program.command("orgs");
  orgs
    .command("list")
    .summary("List your organizations")
    .action(() => listOrganizations(context()));
  orgs
    .command("use")
    .summary("Select the organization of the next commands")
    .argument("<organization>", "the id or the name of the organization")
    .action((organization: string) => selectOrganization(context(), organization));
}

async function listOrganizations(context: Context): Promise<void> {
  const { session, output } = context;
  const { organizations, organization } = await readAccount(context);
  const selected = (await session.organization()) ?? organization.id;
  const listed = organizations.map((each) => ({ ...each, is_selected: each.id === selected }));
  output.value({ organizations: listed }, (width) => renderList("organizations", listed, width));
  if (listed.every((each) => !each.is_selected))
    output.message("You are not a member of the selected organization. Select one with: svc orgs use");
}

/** Reads the account without the selected organization, which the user may have left. */
async function readAccount({ session, output, signal }: Context): Promise<ProcedureOutput<"account", "get">> {
  output.progress("Reading your organizations …");
  const client = await session.clientOfUser();
  return client.account.get({}, { signal });
}

async function selectOrganization(context: Context, wanted: string): Promise<void> {
  const { session, output } = context;
  const { organizations } = await readAccount(context);
  const found = organizations.filter(({ id, name }) => id === wanted || name === wanted);
  const [only, ...others] = found;
  if (only === undefined) throw new CliError(`You are not a member of "${wanted}". List yours with: svc orgs list`);
  if (others.length > 0)
    throw new CliError(
      `Several of your organizations are named "${wanted}". Use an id: ${found.map(({ id }) => id).join(", ")}`,
    );
  if (session.hasOwnToken) throw new CliError(`SVC_TOKEN is set. Select the organization with SVC_ORG=${only.id}`);
  const url = await session.url();
  const select = ({ services }: Config): void => {
    services[url] = { ...services[url], organization: only.id };
  };
  await session.config.update(select, `Select the organization with SVC_ORG=${only.id}`);
  output.value({ organization: only }, () => "");
  output.message(`The next commands use ${only.name}.`);
}
