import type { Input, Output } from "./procedure-types.ts";
import { followEvents } from "./server-sent-events.ts";
import type { Transport } from "./transport.ts";

export interface StreamOptions {
  /** Ends the stream, which then throws the reason of the signal. */
  signal?: AbortSignal;
}

/** Which build log to follow: that of a deployment, or that of the newest deployment of an app. */
export interface BuildLogRequest {
  /** The id of the app. */
  id: string;
  /** The number of the deployment. */
  number?: number;
}

/** One line of a build log, or its end. */
export type BuildLogEvent = { type: "line"; line: string } | ({ type: "end" } & BuildLogEnd);

interface BuildLogEnd {
  status: Output<"apps", "logs">["status"] | Output<"deployments", "logs">["status"];
  status_message: string | null;
  error: string | null;
}

/** Yields the lines of a build log from its start, then waits for the next ones until the deployment has ended. */
export async function* followBuildLog(
  transport: Transport,
  { id, number }: BuildLogRequest,
  { signal }: StreamOptions = {},
): AsyncGenerator<BuildLogEvent, void, undefined> {
  const app = `/v1/apps/${encodeURIComponent(id)}`;
  const path = number === undefined ? `${app}/logs?follow` : `${app}/deployments/${number}/logs?follow`;
  for await (const { name, data } of followEvents(transport, path, signal)) {
    if (name === "message") yield { type: "line", line: data };
    else if (name === "end") yield { type: "end", ...(JSON.parse(data) as BuildLogEnd) };
  }
}

/** What to follow of the messages that an app prints. */
export type RuntimeLogRequest = Pick<Input<"runtimeLogs", "list">, "id" | "since" | "level">;

/** One message that an app has printed. */
export type RuntimeLog = Output<"runtimeLogs", "list">["logs"][number];

/** Yields what an app prints from now on, or since a time, until the app is deleted. */
export async function* followRuntimeLog(
  transport: Transport,
  { id, since, level }: RuntimeLogRequest,
  { signal }: StreamOptions = {},
): AsyncGenerator<RuntimeLog, void, undefined> {
  const filters = Object.entries({ since, level }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const query = new URLSearchParams([["follow", "true"], ...filters]);
  const path = `/v1/apps/${encodeURIComponent(id)}/runtime-logs?${query}`;
  for await (const { name, data } of followEvents(transport, path, signal))
    if (name === "message") yield JSON.parse(data) as RuntimeLog;
}
