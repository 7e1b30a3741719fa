import { ServiceError } from "./errors.ts";

export const MAX_DISPLAY_NAME_LENGTH = 100;

/**
 * Checks a name that people give to an app, a server or an agent.
 *
 * @throws {ServiceError} `invalid`
 */
export function checkDisplayName(name: string): void {
  if (isPlainLine(name, MAX_DISPLAY_NAME_LENGTH)) return;
  throw new ServiceError(
    "invalid",
    `name: must be one line of 1 to ${MAX_DISPLAY_NAME_LENGTH} characters without spaces at its ends. Example: "Shop".`,
  );
}

/** Whether a text is one line that looks like what it is: no control, format or line separator characters. */
export function isPlainLine(text: string, maxLength: number): boolean {
  const isPlain = text.isWellFormed() && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
  return isPlain && text.trim() === text && text.length >= 1 && text.length <= maxLength;
}
