import { TOKEN_KINDS } from "../../domain/shared/caller.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import { openSharedState } from "../composition/shared-state.ts";
import { type Config, readConfig } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { DatabaseUnavailable } from "../database/database-unavailable.ts";
import { openDatabaseBesideService } from "../database/open-database.ts";
import { FolderInUse } from "../files/folder-lock.ts";
import { createLogger } from "../telemetry/logger.ts";
import { BackupError } from "../backup/backup-error.ts";
import { STANDALONE_COMMANDS } from "./backup-commands.ts";
import { type Command, COMMANDS } from "./commands.ts";
import { type Options, parseCommandLine, UsageError } from "./options.ts";

const USAGE = `Usage: npm run admin -- COMMAND

  bootstrap --org NAME --email ADDRESS    create an organization, its first tokens and an invitation for its owner
  create-token --org ID --kind KIND --name NAME [--agent ID] [--expires-in-days N]
                                          KIND is ${TOKEN_KINDS.join(", ")};
                                          a gateway_token requires --agent
  list-tokens --org ID                    list every token with its prefix, kind, name, last use and expiry
  revoke-token --id ID                    revoke a token; takes effect within 5 seconds
  reset-password --email ADDRESS          set a new password for a user and sign the user out everywhere
  set-plan --org ID --plan PLAN           change the plan of an organization
  list-organizations                      list every organization with its name and plan
  move-objects --to s3|filesystem         copy all objects to the S3 object store, or back; the service must be stopped
  move-database                           copy the embedded database to the empty one at DATABASE_URL; the service must
                                          be stopped
  backup PLACE [--keep N]                 add a backup of the running service to a folder, or to s3://bucket/folder,
                                          and keep only the N newest ones
  restore PLACE [--backup ID] [--take-over]
                                          fill an empty DATA_DIR with the newest backup, or with another one
  restore --take-over                     make a restored copy active, when the installation of the backup has ended

--json prints JSON on one line, for programs. Except for move-objects, move-database and restore --take-over, the service may be running.
`;

const EXPECTED_ERRORS = [UsageError, ServiceError, ConfigError, FolderInUse, DatabaseUnavailable, BackupError];

/** Runs the command that the command line names. An error ends it with one line on standard error and exit code 1. */
export async function runAdmin(): Promise<void> {
  try {
    await runCommand();
  } catch (error) {
    const isExpected = EXPECTED_ERRORS.some((type) => error instanceof type);
    process.stderr.write(`${isExpected ? (error as Error).message : String((error as Error).stack)}\n`);
    process.exitCode = 1;
  }
}

async function runCommand(): Promise<void> {
  const { options, command: name, argument } = parseCommandLine();
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const standalone = Object.hasOwn(STANDALONE_COMMANDS, name) ? STANDALONE_COMMANDS[name] : undefined;
  if (options.help || (command ?? standalone) === undefined) {
    process.stdout.write(USAGE);
    process.exitCode = options.help ? 0 : 2;
    return;
  }
  const config = readConfig();
  if (standalone !== undefined) print(await standalone(config, argument, options), options);
  if (command !== undefined) print(await runOnDatabase(command, config, options), options);
}

function print(result: object, { json }: Options): void {
  process.stdout.write(`${JSON.stringify(result, null, json ? 0 : 2)}\n`);
}

async function runOnDatabase(command: Command, config: Config, options: Options): Promise<object> {
  const log = createLogger("silent");
  await using opening = new AsyncDisposableStack();
  const { orm, url } = opening.use(await openDatabaseBesideService(config, log));
  const { accessChanges } = await openSharedState(config, { em: orm.em, url }, log, opening);
  const plans = { names: Object.keys(config.plans), default: config.defaultPlan };
  return await command({ em: orm.em.fork(), accessChanges, plans, config }, options);
}
