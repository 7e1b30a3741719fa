import type { Caller } from "../../domain/shared/caller.ts";
import { InsufficientScope, ServiceError } from "../../domain/shared/errors.ts";
import { reachesRole, type Role } from "../../domain/shared/roles.ts";
import { DEFAULT_SCOPES, reachesScope, type Scope } from "../../domain/shared/scopes.ts";

/** Who may call a procedure. By default, every member: a query requires the scope `read`, a mutation `everything`. */
export interface AccessMeta {
  scope: Scope;
  role?: Role;
}

export type ProcedureType = "query" | "mutation" | "subscription";

/** The scope and the role that a procedure requires. */
export function requiredAccess(type: ProcedureType, access: AccessMeta | undefined): Required<AccessMeta> {
  const scope = type === "query" ? DEFAULT_SCOPES.query : DEFAULT_SCOPES.mutation;
  return { scope, role: "member", ...access };
}

/** Returns the error for a caller who may not call a procedure; `null` for one who may. */
export function getAccessError(
  caller: Caller,
  type: ProcedureType,
  access: AccessMeta | undefined,
): ServiceError | null {
  const { scope, role } = requiredAccess(type, access);
  if (!reachesScope(caller.scope, scope)) return new InsufficientScope(scope, caller.scope);
  if (!reachesRole(caller.role, role))
    return new ServiceError("forbidden", `Role "${role}" required. Your role is "${caller.role}".`);
  return null;
}
