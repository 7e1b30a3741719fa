import type { FastifyRequest } from "fastify";
import type { Caller } from "../../domain/shared/caller.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import type { MembershipResolver } from "../../domain/users/membership-resolver.ts";
import type { Authenticator } from "../auth/authenticator.ts";

export interface GatewayAccess {
  authenticator: Authenticator;
  membershipResolver: MembershipResolver;
}

/** Who calls, in the organization that the call is for; `null` when the token is not good. */
export async function gatewayCaller(
  { headers, ip }: FastifyRequest,
  { authenticator, membershipResolver }: GatewayAccess,
): Promise<Caller | "no member" | null> {
  const caller = await authenticator.callerOf(headers.authorization, ip);
  const chosen = headers["x-service-org-id"];
  if (caller === null || chosen === undefined) return caller;
  return (await membershipResolver.inOrganization(caller, String(chosen))) ?? "no member";
}

/** Whether who was let in would be let in now. */
export async function stillMayCall(request: FastifyRequest, access: GatewayAccess): Promise<boolean> {
  try {
    const caller = await gatewayCaller(request, access);
    return caller !== null && caller !== "no member";
  } catch (error) {
    if (error instanceof ServiceError && error.code === "forbidden") return false;
    throw error;
  }
}
