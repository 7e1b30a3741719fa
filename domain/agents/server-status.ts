import type { AgentHostErrorCode } from "../ports/agent-host.ts";

/** `managed`: the service itself keeps the agents. `openclaw`: they are in an OpenClaw gateway. */
export const SERVER_KINDS = ["managed", "openclaw"] as const;

export type ServerKind = (typeof SERVER_KINDS)[number];

/**
 * Whether the agents of a server can be reached. A managed server is always `ready`. A gateway is `connecting` until the first
 * attempt has ended, and `incompatible` when it responds in a way that the service cannot use.
 */
export const SERVER_STATUSES = ["ready", "connecting", "unreachable", "unauthorized", "incompatible"] as const;

export type ServerStatus = (typeof SERVER_STATUSES)[number];

const STATUS_OF_ERROR = {
  unreachable: "unreachable",
  timed_out: "unreachable",
  overloaded: "unreachable",
  unauthorized: "unauthorized",
  invalid_response: "incompatible",
  unsupported: "incompatible",
  not_found: "incompatible",
  conflict: "incompatible",
  invalid_cursor: "incompatible",
} as const satisfies Record<AgentHostErrorCode, ServerStatus>;

/** The status of a server whose agents cannot be listed because of an error. */
export function statusOfError(code: AgentHostErrorCode): ServerStatus {
  return STATUS_OF_ERROR[code];
}
