import type { InferKyselyDB, SqlEntityManager } from "@mikro-orm/sql";
import type { Kysely } from "kysely";
import type { AgentServerSchema } from "./agents/agent-server.entity.ts";
import type { AgentSchema } from "./agents/agent.entity.ts";
import type { EnabledSkillSchema } from "./agents/enabled-skill.entity.ts";
import type { InstructionRevisionSchema } from "./agents/instruction-revision.entity.ts";
import type { ProjectMountSchema } from "./agents/project-mount.entity.ts";
import type { AppSchema } from "./apps/app.entity.ts";
import type { ArchiveSchema } from "./archives/archive.entity.ts";
import type { AuditEventSchema } from "./audit/audit-event.entity.ts";
import type { CustomizationSchema } from "./deployments/customization.entity.ts";
import type { DeploymentSchema } from "./deployments/deployment.entity.ts";
import type { DocumentPassageSchema } from "./documents/document-passage.entity.ts";
import type { DocumentVersionSchema } from "./documents/document-version.entity.ts";
import type { DocumentSchema } from "./documents/document.entity.ts";
import type { KnowledgeSourceSchema } from "./knowledge-sources/knowledge-source.entity.ts";
import type { MemorySchema } from "./memory/memory.entity.ts";
import type { OrganizationSchema } from "./organizations/organization.entity.ts";
import type { ProcedureSchema } from "./procedures/procedure.entity.ts";
import type { ProjectSchema } from "./projects/project.entity.ts";
import type { PushDeliverySchema } from "./push-records/push-delivery.entity.ts";
import type { PushEndpointSchema } from "./push-records/push-endpoint.entity.ts";
import type { SearchLanguageSchema } from "./search/search-language.entity.ts";
import type { SearchPostingSchema } from "./search/search-posting.entity.ts";
import type { SearchScopeSchema } from "./search/search-scope.entity.ts";
import type { SearchVectorSchema } from "./search/search-vector.entity.ts";
import type { DeletedSessionSchema } from "./sessions/deleted-session.entity.ts";
import type { SessionEntrySchema } from "./sessions/session-entry.entity.ts";
import type { SessionSchema } from "./sessions/session.entity.ts";
import type { SkillFileSchema } from "./skills/skill-file.entity.ts";
import type { SkillSchema } from "./skills/skill.entity.ts";
import type { AppStorageRecordSchema } from "./storage/app-storage-record.entity.ts";
import type { MachineTokenSchema } from "./tokens/machine-token.entity.ts";
import type { UsageCountSchema } from "./usage/usage-count.entity.ts";
import type { AuthTables } from "./users/auth-tables.ts";
import type { AppVariableSchema } from "./variables/app-variable.entity.ts";

/** The rows of the tables that are read without MikroORM's unit of work. */
export type DatabaseTables = InferKyselyDB<
  | typeof AgentSchema
  | typeof AgentServerSchema
  | typeof AppSchema
  | typeof AppStorageRecordSchema
  | typeof AppVariableSchema
  | typeof ArchiveSchema
  | typeof AuditEventSchema
  | typeof DeletedSessionSchema
  | typeof CustomizationSchema
  | typeof DeploymentSchema
  | typeof DocumentPassageSchema
  | typeof DocumentSchema
  | typeof DocumentVersionSchema
  | typeof EnabledSkillSchema
  | typeof InstructionRevisionSchema
  | typeof KnowledgeSourceSchema
  | typeof MachineTokenSchema
  | typeof MemorySchema
  | typeof OrganizationSchema
  | typeof ProcedureSchema
  | typeof ProjectMountSchema
  | typeof ProjectSchema
  | typeof PushDeliverySchema
  | typeof PushEndpointSchema
  | typeof SearchLanguageSchema
  | typeof SearchPostingSchema
  | typeof SearchScopeSchema
  | typeof SearchVectorSchema
  | typeof SessionEntrySchema
  | typeof SessionSchema
  | typeof SkillFileSchema
  | typeof SkillSchema
  | typeof UsageCountSchema
> &
  AuthTables;

/**
 * A query builder for hot reads. Timestamps are text, as the driver returns them: format them with `toIsoTimestamp`. Inside
 * `em.transactional` use {@link queryBuilderOf} instead: this query builder takes another connection, so it is not part of
 * the transaction.
 */
export type Db = Kysely<DatabaseTables>;

/** A transaction that writes entities together with rows of the identity provider. */
export type SqlTransaction = Pick<SqlEntityManager, "getKysely" | "create" | "flush">;

/** Returns a query builder in the transaction of `em`. */
export function queryBuilderOf(em: Pick<SqlEntityManager, "getKysely">): Db {
  return em.getKysely<DatabaseTables>();
}
