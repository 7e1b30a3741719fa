import { ServiceError } from "./errors.ts";

/**
 * Checks a token that another service has issued.
 *
 * @throws {ServiceError} `invalid` for a text that cannot be a token
 */
export function checkToken(token: string, maxLength: number): void {
  if (/^[\x21-\x7e]+$/.test(token) && token.length <= maxLength) return;
  throw new ServiceError("invalid", `token: must have 1 to ${maxLength} visible ASCII characters.`);
}
