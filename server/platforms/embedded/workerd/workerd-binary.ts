import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The exports of the package workerd, which has no type declarations. */
export const workerd = require("workerd") as {
  /** The path of the workerd binary for this machine. */
  default: string;
  compatibilityDate: string;
};

/** The latest compatibility date that workerd accepts. */
export function latestCompatibilityDate(): string {
  const today = new Date().toISOString().slice(0, 10);
  return workerd.compatibilityDate < today ? workerd.compatibilityDate : today;
}
