import { ServiceError } from "./errors.ts";

const MAX_LENGTH = 100;

/**
 * Checks a name that people give to an app, a server or an agent.
 *
 * @throws {ServiceError} `invalid`
 */
export function checkDisplayName(name: string): void {
  // A name is one line that looks like what it is: no control, format or line separator characters.
  const isPlain = name.isWellFormed() && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name);
  if (isPlain && name.trim() === name && name.length >= 1 && name.length <= MAX_LENGTH) return;
  throw new ServiceError(
    "invalid",
    `name: must be one line of 1 to ${MAX_LENGTH} characters without spaces at its ends. Example: "Shop".`,
  );
}
