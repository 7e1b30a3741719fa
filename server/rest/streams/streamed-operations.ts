import { followDeploymentLog } from "../../../domain/deployments/follow-deployment-log.ts";
import { followEvents } from "../../../domain/events/follow-events.ts";
import { followRuntimeLogs } from "../../../domain/runtime-logs/follow-runtime-logs.ts";
import type { RuntimeLogFilter } from "../../../domain/runtime-logs/runtime-log-view.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import type { EventReader } from "../../../domain/shared/stream-events.ts";
import type { Service } from "../../../routers/core/context.ts";

/** An operation that also has a stream: the same path with `follow` or with `Accept: text/event-stream`. */
export interface StreamedOperation {
  /** Describes the stream in the OpenAPI document. */
  description: string;
  /** Whether a stream continues after the event in `Last-Event-ID`. */
  canContinue: boolean;
  /**
   * Opens a stream for a caller who may call the operation.
   *
   * @param input - valid for the operation
   * @returns `null` when the caller has the last event already
   */
  open(service: Service, caller: Caller, input: never, lastEventId: string | null): Promise<EventReader | null>;
}

const BUILD_LOG =
  "With `follow`, server-sent events: each line of the log is an event whose data is the line; a line of more than 16,384 characters is several events. The event `end` follows when the deployment has ended, with `{status, status_message, error}`; its status is `deleting` when the app is being deleted.";

const RUNTIME_LOG =
  "With `follow`, server-sent events: each new message is an event whose data is the same JSON object as in the list, oldest first. The stream begins with the next message, or with those at the time `since` or later; `limit` and `cursor` have no effect. The event `end` follows when the app is being deleted, with `{status}`.";

const EVENTS =
  "With `follow`, server-sent events: `app` with `{id, status, updated_at}` when an app was created, renamed or changed, or its status changed, and `deployment` with `{app_id, number, status}` when the status of a deployment changed. An app that is gone has the status `deleted`. The event `reset` with `{}` comes first, and whenever events may have been lost: read your lists again. The events have no ids, so a client that connects again begins with `reset`.";

/** The streams by the procedures of their operations. */
export const STREAMED_OPERATIONS: Readonly<Record<string, StreamedOperation>> = {
  "apps.logs": {
    description: BUILD_LOG,
    canContinue: true,
    open: (service, caller, { id }: { id: string }, lastEventId) =>
      followDeploymentLog(service, caller, { id }, lastEventId),
  },
  "events.list": {
    description: EVENTS,
    canContinue: false,
    open: (service, caller) => followEvents(service, caller),
  },
  "runtimeLogs.list": {
    description: RUNTIME_LOG,
    canContinue: true,
    open: (service, caller, input: RuntimeLogFilter & { id: string }, lastEventId) =>
      followRuntimeLogs(service, caller, input, lastEventId),
  },
  "deployments.logs": {
    description: BUILD_LOG,
    canContinue: true,
    open: (service, caller, input: { id: string; number: number }, lastEventId) =>
      followDeploymentLog(service, caller, input, lastEventId),
  },
};
