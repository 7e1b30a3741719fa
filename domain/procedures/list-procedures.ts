import type { AppStatus } from "../apps/app-status.ts";
import type { DiscoveredProcedure } from "../ports/procedure-discovery.ts";
import type { Db } from "../tables.ts";

/** A procedure that can be called now, and the app it belongs to. */
export interface LiveProcedure extends DiscoveredProcedure {
  appId: string;
  /** The app's display name. */
  app: string;
  slug: string;
  tokenVersion: number;
}

const COLUMNS = [
  "apps.id as appId",
  "apps.name as app",
  "apps.slug",
  "apps.token_version as tokenVersion",
  "app_procedures.name",
  "app_procedures.kind",
  "app_procedures.description",
  "app_procedures.input_schema as inputSchema",
  "app_procedures.output_schema as outputSchema",
  "app_procedures.invocation",
] as const;

/**
 * Every procedure of the organization's ready apps, by slug, then by name. What an app says of itself (names,
 * descriptions, schemas) is untrusted text.
 */
export async function proceduresOf(db: Db, orgId: string): Promise<LiveProcedure[]> {
  return (
    db
      .selectFrom("app_procedures")
      .innerJoin("apps", "apps.id", "app_procedures.app_id")
      .select(COLUMNS)
      // Both are compared, so a row that strayed would still be nobody else's.
      .where("app_procedures.org_id", "=", orgId)
      .where("apps.org_id", "=", orgId)
      .where("apps.status", "=", "ready" satisfies AppStatus)
      .orderBy("apps.slug")
      .orderBy("app_procedures.name")
      .execute()
  );
}
