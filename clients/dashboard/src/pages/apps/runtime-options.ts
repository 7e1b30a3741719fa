/** How an app can be made to run, for a select. */
export const RUNTIME_OPTIONS = [
  ["", "Detected by the build"],
  ["worker", "Worker"],
  ["node", "Node.js server"],
] as const;
