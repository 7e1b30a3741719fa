import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { Invocation, JsonSchema, ProcedureKind } from "../ports/procedure-discovery.ts";

/** An operation that an app offers to agents. The columns are `json`, because `jsonb` loses the order of properties. */
export const ProcedureSchema = defineEntity({
  name: "Procedure",
  tableName: "app_procedures",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    appId: p.uuid(),
    /** The deployment that offers it. Only the procedures of the app's live deployment can be called. */
    deploymentId: p.uuid(),
    orgId: p.uuid(),
    name: p.string(),
    kind: p.string().$type<ProcedureKind>(),
    description: p.text(),
    inputSchema: p.json<JsonSchema>().columnType("json"),
    outputSchema: p.json<JsonSchema>().columnType("json").nullable(),
    invocation: p.json<Invocation>().columnType("json"),
    /** The id in the search index of the organization; `null` if the search does not find it. */
    indexId: p.integer().nullable(),
  },
  uniques: [{ properties: ["deploymentId", "name"] }, { properties: ["orgId", "indexId"] }],
  indexes: [
    { properties: ["appId"] },
    { name: "app_procedures_not_indexed", properties: ["deploymentId"], where: { indexId: null } },
  ],
  checks: [{ name: "app_procedures_kind_check", expression: "kind in ('query', 'mutation')" }],
});

export class Procedure extends ProcedureSchema.class {}
ProcedureSchema.setClass(Procedure);
