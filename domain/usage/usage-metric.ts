import type { TOKEN_METRICS } from "./token-counters.ts";

/** `requests` to apps, `programs`, `deployments` and tokens of the app builder agent of organizations, and the entries and tokens of sessions of agents. */
export type UsageMetric =
  | "requests"
  | "programs"
  | "deployments"
  | "builder_tokens"
  | "session_entries"
  | (typeof TOKEN_METRICS)[number];
