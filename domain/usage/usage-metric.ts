/** `requests` to apps, and `programs` and `deployments` of organizations. */
export type UsageMetric = "requests" | "programs" | "deployments";
