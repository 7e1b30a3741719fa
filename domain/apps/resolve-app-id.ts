import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { askForName, findNearestNames } from "../shared/nearest-names.ts";

export interface ResolveAppDeps {
  db: Db;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** How many slugs of the organization are compared with an unknown one. */
const MAX_COMPARED = 1000;

/**
 * Returns the id of the app that an agent names by its id or its slug. The caller of the function checks whether an id exists.
 *
 * @throws {ServiceError} `not_found` when no app of the organization has the slug
 */
export async function resolveAppId({ db }: ResolveAppDeps, { orgId }: Caller, idOrSlug: string): Promise<string> {
  if (UUID.test(idOrSlug)) return idOrSlug;
  const apps = db.selectFrom("apps").select(["id", "slug"]).where("org_id", "=", orgId);
  const app = await apps.where("slug", "=", idOrSlug).executeTakeFirst();
  if (app !== undefined) return app.id;
  const others = await apps.orderBy("created_at", "desc").limit(MAX_COMPARED).execute();
  const nearest = findNearestNames(
    idOrSlug,
    others.map(({ slug }) => slug),
  );
  throw new ServiceError(
    "not_found",
    `App not found: no app has this id or slug.${askForName(nearest)} service_list_apps lists the apps.`,
  );
}
