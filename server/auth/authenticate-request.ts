import type { FastifyRequest } from "fastify";
import type { Caller } from "../../domain/shared/caller.ts";
import { translateDatabaseOutage } from "../../domain/shared/database-outage.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import type { MembershipResolver } from "../../domain/users/membership-resolver.ts";
import type { Authenticator } from "./authenticator.ts";

export interface RequestAuthentication {
  authenticator: Authenticator;
  membershipResolver: MembershipResolver;
}

const NOT_A_MEMBER =
  "X-Service-Org-Id: you are not a member of this organization. Omit the header to use the token's organization.";

/**
 * Identifies the caller of a request by the headers `Authorization` and `X-Service-Org-Id`. For APIs that let a user
 * choose one of their organizations per request.
 *
 * @returns `null` when the token is missing or invalid
 * @throws {ServiceError} `forbidden` for an organization that the user is not a member of; an unknown one gets the same
 *   message, so that a caller cannot find out which organizations exist
 * @throws {ServiceError} `unavailable` while the database is out of reach
 * @throws {RateLimited} when the client's network has sent too many invalid tokens
 */
export async function authenticateRequest(
  { headers, ip }: Pick<FastifyRequest, "headers" | "ip">,
  { authenticator, membershipResolver }: RequestAuthentication,
): Promise<Caller | null> {
  try {
    const caller = await authenticator.authenticate(headers.authorization, ip);
    const orgId = headers["x-service-org-id"];
    if (caller === null || orgId === undefined) return caller;
    const switched = await membershipResolver.switchOrganization(caller, String(orgId));
    if (switched === null) throw new ServiceError("forbidden", NOT_A_MEMBER);
    return switched;
  } catch (error) {
    throw translateDatabaseOutage(error);
  }
}

/** Whether the credentials of a request are still valid, for a response that stays open. */
export async function isStillAuthenticated(
  request: Pick<FastifyRequest, "headers" | "ip">,
  authentication: RequestAuthentication,
): Promise<boolean> {
  try {
    return (await authenticateRequest(request, authentication)) !== null;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "forbidden") return false;
    throw error;
  }
}
