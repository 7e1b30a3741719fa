import { ServiceError } from "../shared/errors.ts";

/** One answer for an app that never was, is gone, or belongs to another organization. */
export function appNotFound(): ServiceError {
  return new ServiceError("not_found", "App not found");
}
