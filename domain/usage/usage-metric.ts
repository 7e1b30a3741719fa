import type { TOKEN_METRICS } from "./token-counters.ts";

/** `requests` to apps, `request_errors` that they responded to with 5xx, `programs`, `deployments` and tokens of the app builder agent of organizations, and the entries and tokens of sessions of agents. */
export type UsageMetric =
  | "requests"
  | "request_errors"
  | "programs"
  | "deployments"
  | "builder_tokens"
  | "session_entries"
  | (typeof TOKEN_METRICS)[number];
