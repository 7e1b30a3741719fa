import { type Caller, reachesRole, reachesScope, type Role, type Scope } from "../../domain/shared/caller.ts";
import { ServiceError } from "../../domain/shared/errors.ts";

/** Who may call a procedure. Where it does not say, a query takes `read` and a mutation `everything`, of any member. */
export interface AccessMeta {
  scope: Scope;
  role?: Role;
}

/** Why a caller may not call a procedure; `null` when they may. */
export function accessError(caller: Caller, type: string, access: AccessMeta | undefined): ServiceError | null {
  const { scope, role = "member" } = access ?? { scope: type === "query" ? "read" : "everything" };
  if (!reachesScope(caller.scope, scope))
    return new ServiceError("forbidden", `This token has the scope "${caller.scope}", and this call takes "${scope}".`);
  if (!reachesRole(caller.role, role))
    return new ServiceError("forbidden", `This call takes the role "${role}", and the caller has "${caller.role}".`);
  return null;
}
