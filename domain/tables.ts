import type { InferKyselyDB } from "@mikro-orm/sql";
import type { Kysely } from "kysely";
import type { AppSchema } from "./apps/app.entity.ts";
import type { BuildSchema } from "./builds/build.entity.ts";
import type { ProcedureSchema } from "./procedures/procedure.entity.ts";
import type { MachineTokenSchema } from "./tokens/machine-token.entity.ts";

/** The tables that hot paths read without the unit of work, as rows. */
export type Tables = InferKyselyDB<
  typeof AppSchema | typeof BuildSchema | typeof MachineTokenSchema | typeof ProcedureSchema
>;

/**
 * Plain queries for hot reads. Timestamps arrive as the driver gives them (text on Postgres): pass them through
 * `new Date(...)`. Never use it inside `em.transactional`: the embedded database has one connection.
 */
export type Db = Kysely<Tables>;
