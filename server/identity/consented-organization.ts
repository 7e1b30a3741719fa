import { defineRequestState } from "@better-auth/core/context";
import { getOAuthProviderState } from "@better-auth/oauth-provider";
import { APIError } from "better-auth/api";
import type { Db } from "../../domain/database-types.ts";
import { isUuid } from "../../domain/shared/ids.ts";
import {
  deleteOtherConsents,
  EVERY_ORGANIZATION,
  findConsentedOrganization,
} from "../../domain/users/consented-organization.ts";
import { findRole } from "../../domain/users/memberships.ts";
import type { Fields } from "./auth-call.ts";

/** Equals no stored organization, so that the user is asked for consent. */
const NO_CONSENT = "none";

/** The organization that the user chose in the current request. */
const chosenOrganization = defineRequestState<string | null>(() => null);

/**
 * Reads the organization that a user chose on the consent page. Without a choice, the client may act in every organization
 * of the user.
 *
 * @throws {APIError} 400 for an organization that the user is not a member of
 */
export async function chooseOrganization(db: Db, body: Fields, userId: string): Promise<void> {
  const { accept, organizationId = null } = body;
  if (accept !== true) return;
  const isMember = isUuid(organizationId) && (await findRole(db, organizationId, userId)) !== null;
  if (organizationId !== null && !isMember)
    throw new APIError("BAD_REQUEST", { message: NOT_A_MEMBER, code: "INVALID" });
  await chosenOrganization.set(isMember ? organizationId : EVERY_ORGANIZATION);
}

const NOT_A_MEMBER = "organizationId: must be the id of an organization of which you are a member.";

/**
 * Returns the organization that better-auth stores with a consent and with the tokens that follow from it. It is the one
 * that the user has just chosen, else the one that the user chose earlier for this client.
 */
export async function resolveConsentedOrganization(db: Db, userId: string): Promise<string> {
  const chosen = await chosenOrganization.get();
  if (chosen !== null) return chosen;
  const clientId = await readClientId();
  return (await findConsentedOrganization(db, { userId, clientId })) ?? NO_CONSENT;
}

/** Completes a consent: a consent of the user to the same client for another organization ends. */
export async function replaceEarlierConsents(db: Db, userId: string): Promise<void> {
  const chosen = await chosenOrganization.get();
  if (chosen !== null) await deleteOtherConsents(db, { userId, clientId: await readClientId() }, chosen);
}

/** The claims of an access token of an OAuth client: the only organization in which the token is valid, if there is one. */
export function organizationClaims(organization: string | undefined): Record<string, string> {
  return isUuid(organization) ? { org_id: organization } : {};
}

/** The client of the authorization request that better-auth handles. */
async function readClientId(): Promise<string> {
  return new URLSearchParams((await getOAuthProviderState())?.query).get("client_id") ?? "";
}
