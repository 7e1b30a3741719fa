import { Command } from "commander";
import { callForAllServers, describeAllServers, readsAllServers } from "./commands/all-servers.ts";
import { defineAgentCommands } from "./commands/agents.ts";
import { defineAgentHookCommand } from "./commands/agent-hook.ts";
import { defineAgentSyncCommands } from "./commands/agent-sync.ts";
import { defineAppCommands } from "./commands/apps.ts";
import { defineCompletionCommands } from "./commands/completion.ts";
import { defineDeployCommand } from "./commands/deploy.ts";
import { defineKnowledgeCommands } from "./commands/knowledge.ts";
import { defineLoginCommands } from "./commands/login.ts";
import { defineMcpCommand } from "./commands/mcp.ts";
import { defineMcpInstallCommand } from "./commands/mcp-install.ts";
import { defineOrganizationCommands } from "./commands/orgs.ts";
import { defineProcedureCommand } from "./commands/procedure-command.ts";
import { defineSessionCommands } from "./commands/sessions.ts";
import type { CommandSpec } from "./command-spec.ts";
import type { Context } from "./context.ts";
import { COMMANDS } from "./generated/commands.ts";
import { VERSION } from "./version.ts";

/** Procedures whose commands have other names, and are written by hand. */
const WITHOUT_COMMAND = ["account.get", "apps.deploy", "knowledge.addArchive"];

/** Further names of commands that are derived from procedures. */
const ALIASES: Readonly<Record<string, string>> = {
  "tokens.issue": "create",
  "variables.delete": "unset",
};

/** The procedures whose commands also run without their verb, although their group has others. */
const DEFAULT_COMMANDS: readonly string[] = ["usage.get"];

/** Further names of groups of commands. */
const GROUP_ALIASES: Readonly<Record<string, string>> = { memories: "memory" };

const HELP = `
Environment:
  SVC_URL, SVC_TOKEN, SVC_ORG  the service, the token and the organization of commands
  XDG_CONFIG_HOME              the folder of the configuration; by default ~/.config
  NO_COLOR                     no colors

Exit codes: 0 success, 1 failure, 2 wrong usage, 4 not signed in,
130 interrupted, 143 terminated`;

/** Creates the parser of the command line. `context` is called when a command runs, after its options are parsed. */
export function createProgram(context: () => Context): Command {
  const program = new Command("svc");
  program
    .description("Deploys and manages apps and agents.")
    .version(VERSION, "-V, --version", "print the version")
    .option("--json", "print data as JSON")
    .option("--service <url>", "the URL of the service")
    .option("--org <id>", "the id of the organization")
    .option("--debug", "show details of errors")
    .helpCommand(false)
    .addHelpText("after", HELP);
  defineLoginCommands(program, context);
  defineDeployCommand(program, context);
  const apps = program.command("apps");
  defineAppCommands(apps, context);
  const agents = program.command("agents");
  defineAgentCommands(agents, context);
  defineAgentHookCommand(agents, context);
  defineAgentSyncCommands(agents, context);
  defineOrganizationCommands(program, context);
  defineSessionCommands(program.command("sessions"), context);
  defineKnowledgeCommands(program.command("knowledge"), context);
  const mcp = program.command("mcp");
  defineMcpCommand(mcp, context);
  defineMcpInstallCommand(mcp, context);
  for (const spec of COMMANDS)
    if (!WITHOUT_COMMAND.includes(spec.procedure)) defineDerivedCommand(program, spec, context);
  for (const group of program.commands)
    if (group.commands.length > 0) group.summary(group.summary() || listVerbs(group)).helpCommand(false);
  for (const [name, alias] of Object.entries(GROUP_ALIASES)) findCommand(program, name)?.alias(alias);
  defineCompletionCommands(program, context);
  return program;
}

/** Adds the command of a procedure, unless there is one of the same name already. */
function defineDerivedCommand(program: Command, spec: CommandSpec, context: () => Context): void {
  const [noun, verb] = spec.words;
  const group = findCommand(program, noun) ?? program.command(noun);
  if (findCommand(group, verb) !== undefined) return;
  const isOnly = COMMANDS.every(({ words }) => words[0] !== noun || words[1] === verb);
  const command = group.command(verb, { isDefault: isOnly || DEFAULT_COMMANDS.includes(spec.procedure) });
  const alias = ALIASES[spec.procedure];
  if (alias !== undefined) command.alias(alias);
  if (readsAllServers(spec)) defineProcedureCommand(command, describeAllServers(spec), context, callForAllServers);
  else defineProcedureCommand(command, spec, context);
}

function listVerbs(group: Command): string {
  return group.commands
    .map((command) => [command.name(), ...command.aliases()].join("|"))
    .toSorted()
    .join(", ");
}

function findCommand(parent: Command, name: string): Command | undefined {
  return parent.commands.find((command) => command.name() === name);
}
