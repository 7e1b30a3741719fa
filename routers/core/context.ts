import type { DeleteDeps } from "../../domain/apps/delete-app.ts";
import type { DeployDeps } from "../../domain/apps/deploy-app.ts";
import type { AppListCache } from "../../domain/apps/app-list-cache.ts";
import type { RotateAppTokenDeps } from "../../domain/apps/rotate-app-token.ts";
import type { ExecuteDeps } from "../../domain/execution/execute-code.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import type { ServiceError } from "../../domain/shared/errors.ts";
import type { AppCaller } from "../../domain/ports/app-caller.ts";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { CodeRuntime } from "../../domain/ports/code-runtime.ts";
import type { ProcedureIndex } from "../../domain/procedures/procedure-index.ts";
import type { Counter, Taken } from "../../domain/ports/counter.ts";
import type { ObjectStore } from "../../domain/ports/object-store.ts";

/** What every call needs of the service, the same for all of them. */
export type Services = Omit<DeployDeps & DeleteDeps & RotateAppTokenDeps, "caller" | "idempotencyKey"> & {
  counter: Counter;
  /** Counts calls of the tool gateway, which come too often for a database. */
  callCounter: Counter;
  /** Announces that somebody's rights have changed, so that every process looks again. */
  accessChanges: ChangeFeed;
  appCaller: AppCaller;
  procedureIndex: ProcedureIndex;
  appListCache: AppListCache;
  codeRuntime: CodeRuntime;
  objects: ObjectStore;
  /** Takes a fault that must not fail the call. */
  reportInternalError(err: unknown, what: string): void;
};

/** One call, as the face that received it describes it. */
export interface Context extends Services {
  /** `null` when the call carries no valid credential. */
  caller: Caller | null;
  /** Why there is no caller, when there is more to say than that there is none. */
  callerRefused: ServiceError | null;
  /** The network address that the call came from, when it came over the network. */
  address: string | null;
  idempotencyKey: string | null;
  /** Calls another tool of the service with the rights of this call. */
  callTool: ExecuteDeps["callTool"];
  /** The tools that it can call. */
  toolDeclarations: ExecuteDeps["toolDeclarations"];
  /** Why the body could not be read, for the procedure to refuse at its turn: after the rate limit has counted it. */
  malformedBody: ServiceError | null;
  /** Tells the face what a limited call has left. */
  reportRateLimit(policy: { name: string; limit: number; windowSeconds: number }, taken: Taken): void;
}
