import type { InferKyselyDB, SqlEntityManager } from "@mikro-orm/sql";
import type { Kysely } from "kysely";
import type { AppSchema } from "./apps/app.entity.ts";
import type { AuditEventSchema } from "./audit/audit-event.entity.ts";
import type { DeploymentSchema } from "./deployments/deployment.entity.ts";
import type { ProcedureSchema } from "./procedures/procedure.entity.ts";
import type { OrganizationSchema } from "./organizations/organization.entity.ts";
import type { AuthTables } from "./users/auth-tables.ts";
import type { MachineTokenSchema } from "./tokens/machine-token.entity.ts";

/** The tables that hot paths read without the unit of work, as rows. */
export type DatabaseTables = InferKyselyDB<
  | typeof AppSchema
  | typeof AuditEventSchema
  | typeof DeploymentSchema
  | typeof MachineTokenSchema
  | typeof OrganizationSchema
  | typeof ProcedureSchema
> &
  AuthTables;

/**
 * Plain queries for hot reads. Timestamps arrive as the driver gives them (text on Postgres): pass them through
 * `new Date(...)`. Never use it inside `em.transactional`: the embedded database has one connection.
 */
export type Db = Kysely<DatabaseTables>;

/** What a domain function needs to write rows of the identity provider beside entities, in one transaction. */
export type SqlTransaction = Pick<SqlEntityManager, "getKysely" | "create" | "flush">;

/** Plain queries in the transaction of `em`. */
export function queryBuilderOf(em: Pick<SqlEntityManager, "getKysely">): Db {
  return em.getKysely<DatabaseTables>();
}
