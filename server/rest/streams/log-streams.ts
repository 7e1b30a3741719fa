import { followDeploymentLog } from "../../../domain/deployments/follow-deployment-log.ts";
import { followRuntimeLogs } from "../../../domain/runtime-logs/follow-runtime-logs.ts";
import type { RuntimeLogFilter } from "../../../domain/runtime-logs/runtime-log-view.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import type { LogStream } from "../../../domain/shared/log-stream.ts";
import type { Service } from "../../../routers/core/context.ts";

/** An operation that also has a stream: the same path with the query parameter `follow`. */
export interface StreamedOperation {
  /** Describes the stream in the OpenAPI document. */
  description: string;
  /**
   * Opens a stream for a caller who may call the operation.
   *
   * @param input - valid for the operation
   * @returns `null` when the caller has the last event already
   */
  open(service: Service, caller: Caller, input: never, lastEventId: string | null): Promise<LogStream | null>;
}

const BUILD_LOG =
  "With `follow`, server-sent events: each line of the log is an event whose data is the line; a line of more than 16,384 characters is several events. The event `end` follows when the deployment has ended, with `{status, status_message, error}`; its status is `deleting` when the app is being deleted.";

const RUNTIME_LOG =
  "With `follow`, server-sent events: each new message is an event whose data is the same JSON object as in the list, oldest first. The stream begins with the next message, or with those at the time `since` or later; `limit` and `cursor` have no effect. The event `end` follows when the app is being deleted, with `{status}`.";

/** The streams by the procedures of their operations. */
export const LOG_STREAMS: Readonly<Record<string, StreamedOperation>> = {
  "apps.logs": {
    description: BUILD_LOG,
    open: (service, caller, { id }: { id: string }, lastEventId) =>
      followDeploymentLog(service, caller, { id }, lastEventId),
  },
  "runtimeLogs.list": {
    description: RUNTIME_LOG,
    open: (service, caller, input: RuntimeLogFilter & { id: string }, lastEventId) =>
      followRuntimeLogs(service, caller, input, lastEventId),
  },
  "deployments.logs": {
    description: BUILD_LOG,
    open: (service, caller, input: { id: string; number: number }, lastEventId) =>
      followDeploymentLog(service, caller, input, lastEventId),
  },
};
