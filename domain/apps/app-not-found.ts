import { Refusal } from "../shared/errors.ts";

/** One answer for an app that never was, is gone, or belongs to another organization. */
export function appNotFound(): Refusal {
  return new Refusal("not_found", "App not found");
}
