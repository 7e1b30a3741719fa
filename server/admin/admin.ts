import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { hashPassword } from "better-auth/crypto";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import { Organization } from "../../domain/organizations/organization.entity.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import { resetPassword } from "../../domain/users/reset-password.ts";
import { MachineToken } from "../../domain/tokens/machine-token.entity.ts";
import { mintToken } from "../../domain/tokens/mint-token.ts";
import { inviteOwner } from "../../domain/organizations/invite-owner.ts";
import { TOKEN_KINDS, type TokenKind } from "../../domain/shared/caller.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { isUuid } from "../../domain/shared/ids.ts";
import { ConfigError, readConfig } from "../config.ts";
import { FolderInUse } from "../files/folder-lock.ts";
import { DatabaseUnavailable } from "../database/database-unavailable.ts";
import { openDatabaseBesideService } from "../database/open-database.ts";
import type { Em } from "../database/orm.ts";
import { createLogger } from "../telemetry/logger.ts";

const USAGE = `Usage: npm run admin -- COMMAND

  bootstrap --org NAME --email ADDRESS    create an organization, its first tokens and an invitation for its owner
  create-token --org ID --kind KIND --name NAME [--expires-in-days N]
                                          KIND is ${TOKEN_KINDS.join(", ")}
  list-tokens --org ID                    prefix, kind, name, last use and expiry of every token
  revoke-token --id ID                    effective within 5 seconds
  reset-password --email ADDRESS          give a person a new password, and end their sessions
  set-plan --org ID --plan PLAN           move an organization to another plan
  list-organizations

Add --json for output that programs read. The service may run meanwhile.
`;

const OPTIONS = {
  org: { type: "string" },
  email: { type: "string" },
  kind: { type: "string" },
  name: { type: "string" },
  id: { type: "string" },
  plan: { type: "string" },
  "expires-in-days": { type: "string" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>>["values"];

class UsageError extends Error {}

type Command = (em: Em, values: Values, plans: { names: string[]; fallback: string }) => Promise<object>;

const COMMANDS: Record<string, Command> = {
  bootstrap: async (em, values, plans) => {
    const email = required(values, "email");
    const bootstrapped = await createOrganization(em, { name: required(values, "org"), email, plan: plans.fallback });
    const place = { orgId: bootstrapped.org_id, placeholderId: bootstrapped.user_id, email };
    return { ...bootstrapped, ...(await inviteOwner(em, place)) };
  },
  "create-token": createToken,
  "list-tokens": async (em, values) => ({ tokens: await listTokens(em, required(values, "org")) }),
  "revoke-token": async (em, values) => {
    const revoked = await em.nativeUpdate(
      MachineToken,
      { id: uuid(values, "id"), revokedAt: null },
      { revokedAt: new Date() },
    );
    if (revoked === 0) throw new UsageError("There is no such token, or it is revoked already.");
    return { revoked: values.id };
  },
  "reset-password": async (em, values) => {
    const email = required(values, "email");
    const password = randomBytes(18).toString("base64url");
    return { ...(await resetPassword(em, { email, passwordHash: await hashPassword(password) })), password };
  },
  "set-plan": setPlan,
  "list-organizations": async (em) => ({
    organizations: await queryBuilderOf(em)
      .selectFrom("organizations")
      .innerJoin("auth.organization", "auth.organization.id", "organizations.id")
      .select(["organizations.id", "auth.organization.name", "organizations.plan"])
      .execute(),
  }),
};

async function createToken(em: Em, values: Values): Promise<object> {
  const kind = required(values, "kind");
  if (!(TOKEN_KINDS as readonly string[]).includes(kind))
    throw new UsageError(`--kind is one of ${TOKEN_KINDS.join(", ")}`);
  const organization = await organizationOf(em, values);
  const owner = await queryBuilderOf(em)
    .selectFrom("auth.member")
    .select("userId")
    .where("organizationId", "=", organization.id)
    .where("role", "=", "owner")
    .orderBy("createdAt")
    .executeTakeFirstOrThrow();
  const { token, id } = mintToken(em, {
    kind: kind as TokenKind,
    name: required(values, "name"),
    orgId: organization.id,
    userId: owner.userId,
    expiresAt: expiry(values["expires-in-days"]),
  });
  await em.flush();
  return { id, token };
}

async function listTokens(em: Em, orgId: string): Promise<object[]> {
  const tokens = await em.find(MachineToken, { orgId }, { orderBy: { createdAt: "asc" } });
  return tokens.map(({ id, kind, name, prefix, createdAt, lastUsedAt, expiresAt, revokedAt }) => ({
    ...{ id, kind, name, prefix, created_at: createdAt },
    ...{ last_used_at: lastUsedAt, expires_at: expiresAt, revoked_at: revokedAt },
  }));
}

async function setPlan(em: Em, values: Values, plans: { names: string[] }): Promise<object> {
  const plan = required(values, "plan");
  if (!plans.names.includes(plan)) throw new UsageError(`--plan is one of ${plans.names.join(", ")}`);
  const organization = await organizationOf(em, values);
  organization.plan = plan;
  await em.flush();
  return { org_id: organization.id, plan };
}

async function organizationOf(em: Em, values: Values): Promise<Organization> {
  const organization = await em.findOne(Organization, { id: uuid(values, "org") });
  if (organization === null) throw new UsageError("There is no such organization. See list-organizations.");
  return organization;
}

function required(values: Values, name: "org" | "email" | "kind" | "name" | "id" | "plan"): string {
  const value = values[name];
  if (value === undefined || value === "") throw new UsageError(`--${name} is missing`);
  return value;
}

function uuid(values: Values, name: "org" | "id"): string {
  const value = required(values, name);
  if (!isUuid(value)) throw new UsageError(`--${name} is an id such as 0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e`);
  return value;
}

function expiry(days: string | undefined): Date | undefined {
  if (days === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(days)) throw new UsageError("--expires-in-days is a whole number of days, such as 90");
  return new Date(Date.now() + Number(days) * 86_400_000);
}

function show(result: object, json: boolean): string {
  return `${JSON.stringify(result, null, json ? 0 : 2)}\n`;
}

async function main(): Promise<void> {
  const { values, positionals } = parse();
  const name = positionals[0] ?? "";
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (values.help || command === undefined) {
    process.stdout.write(USAGE);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const config = readConfig();
  await using database = await openDatabaseBesideService(config, createLogger("silent"));
  const plans = { names: Object.keys(config.plans), fallback: config.defaultPlan };
  const result = await database.orm.em.fork().transactional((em) => command(em, values, plans));
  process.stdout.write(show(result, values.json));
}

function parse() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

try {
  await main();
} catch (error) {
  const expected = [UsageError, ServiceError, ConfigError, FolderInUse, DatabaseUnavailable].some(
    (kind) => error instanceof kind,
  );
  process.stderr.write(`${expected ? (error as Error).message : String((error as Error).stack)}\n`);
  process.exitCode = 1;
}
