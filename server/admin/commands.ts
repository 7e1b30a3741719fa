import { randomBytes } from "node:crypto";
import { hashPassword } from "better-auth/crypto";
import { runAudited } from "../../domain/audit/record-call.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import { inviteOwner } from "../../domain/organizations/invite-owner.ts";
import { Organization } from "../../domain/organizations/organization.entity.ts";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import { inTransaction } from "../../domain/shared/transaction.ts";
import { issueToken } from "../../domain/tokens/issue-token.ts";
import { MachineToken } from "../../domain/tokens/machine-token.entity.ts";
import { revokeToken } from "../../domain/tokens/revoke-token.ts";
import { resetPassword } from "../../domain/users/reset-password.ts";
import type { Config } from "../config.ts";
import type { Em } from "../database/orm.ts";
import { moveObjects } from "./move-objects.ts";
import { type Options, readExpiry, requireId, requireOption, requireTokenKind, UsageError } from "./options.ts";

export interface AdminDeps {
  em: Em;
  accessChanges: ChangeFeed;
  plans: { names: string[]; default: string };
  config: Pick<Config, "dataDirectory" | "s3">;
}

export type Command = (deps: AdminDeps, options: Options) => Promise<object>;

/** The commands of `npm run admin` by name. Each returns what it prints. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  bootstrap: ({ em, plans }, options) => {
    const email = requireOption(options, "email");
    const name = requireOption(options, "org");
    return inTransaction(em, async (tx) => {
      const created = await createOrganization(tx, { name, email, plan: plans.default });
      const owner = { orgId: created.org_id, placeholderId: created.user_id, email };
      return { ...created, ...(await inviteOwner(tx, owner)) };
    });
  },
  "create-token": createToken,
  "list-tokens": async ({ em }, options) => ({ tokens: await listTokens(em, requireId(options, "org")) }),
  "revoke-token": revoke,
  "reset-password": async ({ em, accessChanges }, options) => {
    const email = requireOption(options, "email");
    const password = randomBytes(18).toString("base64url");
    const passwordHash = await hashPassword(password);
    const { user_id: userId } = await inTransaction(em, (tx) => resetPassword(tx, { email, passwordHash }));
    accessChanges.announce(userId);
    return { user_id: userId, password };
  },
  "set-plan": setPlan,
  "move-objects": ({ config }, { to }) => moveObjects(config, to),
  "list-organizations": async ({ em }) => ({ organizations: await listOrganizations(em) }),
};

async function createToken({ em }: AdminDeps, options: Options): Promise<object> {
  const kind = requireTokenKind(options);
  const { id: orgId } = await findOrganization(em, options);
  const request = {
    kind,
    name: requireOption(options, "name"),
    scope: "everything" as const,
    expires_at: readExpiry(options),
    agent_id: kind === "gateway_token" ? requireId(options, "agent") : undefined,
  };
  const call = { caller: operator(orgId), action: "tokens.issue", address: null, input: null };
  const { id, token } = await runAudited(auditDeps(em), call, () => issueToken({ em }, call.caller, request));
  return { id, token };
}

async function revoke({ em, accessChanges }: AdminDeps, options: Options): Promise<object> {
  const id = requireId(options, "id");
  const token = await em.findOne(MachineToken, { id, revokedAt: null });
  if (token === null) throw new UsageError("--id: unknown or revoked token. list-tokens lists the tokens.");
  const call = { caller: operator(token.orgId), action: "tokens.revoke", address: null, input: { id } };
  const deps = { db: queryBuilderOf(em), accessChanges };
  await runAudited(auditDeps(em), call, () => revokeToken(deps, call.caller, id));
  return { revoked: id };
}

/** The operator as a caller in an organization. Access to the shell and the database is the credential. */
function operator(orgId: string): Caller {
  return { orgId, userId: null, role: "owner", scope: "everything", credential: { kind: "operator", id: "admin" } };
}

function auditDeps(em: Em) {
  return {
    em,
    db: queryBuilderOf(em),
    reportInternalError: (error: unknown, what: string): void => {
      process.stderr.write(`${what}: ${String(error)}\n`);
    },
  };
}

async function listTokens(em: Em, orgId: string): Promise<object[]> {
  const tokens = await em.find(MachineToken, { orgId }, { orderBy: { createdAt: "asc" } });
  return tokens.map(({ id, kind, name, prefix, createdAt, lastUsedAt, expiresAt, revokedAt }) => ({
    id,
    kind,
    name,
    prefix,
    created_at: createdAt,
    last_used_at: lastUsedAt,
    expires_at: expiresAt,
    revoked_at: revokedAt,
  }));
}

async function setPlan({ em, plans }: AdminDeps, options: Options): Promise<object> {
  const plan = requireOption(options, "plan");
  if (!plans.names.includes(plan)) throw new UsageError(`--plan must be one of ${plans.names.join(", ")}`);
  const organization = await findOrganization(em, options);
  organization.plan = plan;
  await em.flush();
  return { org_id: organization.id, plan };
}

async function findOrganization(em: Em, options: Options): Promise<Organization> {
  const organization = await em.findOne(Organization, { id: requireId(options, "org") });
  if (organization === null)
    throw new UsageError("--org: unknown organization. list-organizations lists all organizations.");
  return organization;
}

function listOrganizations(em: Em): Promise<object[]> {
  return queryBuilderOf(em)
    .selectFrom("organizations")
    .innerJoin("auth.organization", "auth.organization.id", "organizations.id")
    .select(["organizations.id", "auth.organization.name", "organizations.plan"])
    .execute();
}
