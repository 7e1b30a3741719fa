import type { TOKEN_METRICS } from "./token-counters.ts";

/** `requests` to apps, `programs` and `deployments` of organizations, and the entries and tokens of sessions of agents. */
export type UsageMetric = "requests" | "programs" | "deployments" | "session_entries" | (typeof TOKEN_METRICS)[number];
