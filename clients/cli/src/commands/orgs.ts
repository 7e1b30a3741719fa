import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { connect, type Context } from "../context.ts";
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
  const { signal, output } = context;
  const client = await connect(context, "Reading your organizations …");
  const { organizations, organization } = await client.account.get({}, { signal });
  const listed = organizations.map((each) => ({ ...each, is_selected: each.id === organization.id }));
  output.value({ organizations: listed }, (width) => renderList("organizations", listed, width));
}

async function selectOrganization(context: Context, wanted: string): Promise<void> {
  const { session, output, signal } = context;
  const client = await connect(context, "Reading your organizations …");
  const { organizations } = await client.account.get({}, { signal });
  const found = organizations.filter(({ id, name }) => id === wanted || name === wanted);
  const [only, ...others] = found;
  if (only === undefined) throw new CliError(`You are not a member of "${wanted}". List yours with: svc orgs list`);
  if (others.length > 0)
    throw new CliError(
      `Several of your organizations are named "${wanted}". Use an id: ${found.map(({ id }) => id).join(", ")}`,
    );
  if (session.hasOwnToken) throw new CliError(`SVC_TOKEN is set. Select the organization with SVC_ORG=${only.id}`);
  const url = await session.url();
  await session.config.update(({ services }) => {
    services[url] = { ...services[url], organization: only.id };
  });
  output.value({ organization: only }, () => "");
  output.message(`The next commands use ${only.name}.`);
}
