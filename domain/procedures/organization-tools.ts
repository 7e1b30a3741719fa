import type { EntityManager } from "@mikro-orm/core";
import { type DirectTools, Organization } from "../organizations/organization.entity.ts";
import type { AppBuilder } from "../ports/app-builder-agent.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inTransaction } from "../shared/transaction.ts";
import { nameDirectTools } from "./direct-tool-names.ts";
import type { ProcedureIndex } from "./procedure-index.ts";

/** With more tools, models choose worse ones, and some clients leave tools out. */
export const RECOMMENDED_TOOLS = 60;

export interface OrganizationToolsDeps {
  em: EntityManager;
  procedureIndex: ProcedureIndex;
  /** Notifies the clients of an organization that its list of tools may have changed. */
  changes: ChangeFeed;
  appBuilder: AppBuilder | null;
}

/** What the members of an organization have set for its tools. */
export interface OrganizationTools {
  org_id: string;
  direct_tools: DirectTools;
  /** The tools of the service and the direct tools of apps together, if `direct_tools` is `all`. */
  tool_count: number;
  recommended_direct_tools: DirectTools;
  customization_available: boolean;
}

export interface UpdateOrganization {
  direct_tools?: DirectTools | undefined;
}

/** @param ownToolCount - the number of the service's own tools */
export async function getOrganizationTools(
  { em, procedureIndex, appBuilder }: OrganizationToolsDeps,
  { orgId }: Caller,
  ownToolCount: number,
): Promise<OrganizationTools> {
  const { directTools } = await em.fork().findOneOrFail(Organization, { id: orgId });
  const { all } = await procedureIndex.get(orgId);
  const toolCount = ownToolCount + nameDirectTools(all).size;
  return {
    org_id: orgId,
    direct_tools: directTools,
    tool_count: toolCount,
    recommended_direct_tools: toolCount > RECOMMENDED_TOOLS ? "none" : "all",
    customization_available: appBuilder !== null,
  };
}

/**
 * Changes which tools the members and agents of an organization get. Every process lists them accordingly from then on.
 *
 * @throws {ServiceError} `invalid` for a request that changes nothing
 */
export async function updateOrganizationTools(
  deps: OrganizationToolsDeps,
  caller: Caller,
  { direct_tools: directTools }: UpdateOrganization,
  ownToolCount: number,
): Promise<OrganizationTools> {
  const { orgId } = caller;
  if (directTools === undefined) throw new ServiceError("invalid", "Nothing to change. Send direct_tools.");
  const isChanged = await inTransaction(
    deps.em,
    async (em) =>
      (await em.nativeUpdate(Organization, { id: orgId, directTools: { $ne: directTools } }, { directTools })) > 0,
  );
  if (isChanged) deps.changes.announce(orgId);
  return getOrganizationTools(deps, caller, ownToolCount);
}
