import { ServiceError } from "../shared/errors.ts";

/** The name of the environment that a production app is. */
export const PRODUCTION = "production";

const FORM = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** @throws {ServiceError} `invalid` for a name that no new environment can have */
export function checkEnvironmentName(name: string): void {
  if (name === PRODUCTION)
    throw new ServiceError("invalid", `name: ${PRODUCTION} is the app itself. Example of another name: staging.`);
  if (FORM.test(name)) return;
  throw new ServiceError(
    "invalid",
    "name: must have 1 to 32 characters of a-z, 0-9 and -, and begin with a letter or a digit. Example: staging.",
  );
}
