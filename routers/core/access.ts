import { type Caller, reachesRole, reachesScope, type Role, type Scope } from "../../domain/shared/caller.ts";
import { ServiceError } from "../../domain/shared/errors.ts";

/** Who may call a procedure. By default, every member: a query requires the scope `read`, a mutation `everything`. */
export interface AccessMeta {
  scope: Scope;
  role?: Role;
}

/** Returns the error for a caller who may not call a procedure; `null` for one who may. */
export function getAccessError(caller: Caller, type: string, access: AccessMeta | undefined): ServiceError | null {
  const { scope, role = "member" } = access ?? { scope: type === "query" ? "read" : "everything" };
  if (!reachesScope(caller.scope, scope))
    return new ServiceError("forbidden", `Scope "${scope}" required. This token has the scope "${caller.scope}".`);
  if (!reachesRole(caller.role, role))
    return new ServiceError("forbidden", `Role "${role}" required. Your role is "${caller.role}".`);
  return null;
}
