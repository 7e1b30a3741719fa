import type { StreamOptions } from "./log-streams.ts";
import type { Output } from "./procedure-types.ts";
import { followEvents } from "./server-sent-events.ts";
import type { Transport } from "./transport.ts";

/** What changed in the organization. */
export type OrganizationEvent =
  /** What you have read before may be outdated. The first event, and the next one after events may have been lost. */
  | { type: "reset" }
  /** An app was created, renamed or changed, or its status changed. It is gone when the status is `deleted`. */
  | ({ type: "app" } & Output<"events", "list">["apps"][number])
  /** The status of a deployment changed. */
  | { type: "deployment"; app_id: string; number: number; status: Output<"deployments", "get">["status"] }
  | {
      type: "push";
      app_id: string;
      delivery_id: string;
      result: Output<"pushDeploy", "deliveries">["deliveries"][number]["result"];
    };

/** Yields what changes in the organization, without an end. */
export async function* followOrganization(
  transport: Transport,
  { signal }: StreamOptions = {},
): AsyncGenerator<OrganizationEvent, void, undefined> {
  for await (const { name, data } of followEvents(transport, "/v1/events?follow", signal))
    if (name === "reset" || name === "app" || name === "deployment" || name === "push")
      yield { type: name, ...(JSON.parse(data) as object) } as OrganizationEvent;
}
