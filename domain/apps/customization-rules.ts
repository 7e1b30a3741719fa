import { ServiceError } from "../shared/errors.ts";
import type { AppBuilder } from "../ports/app-builder.ts";

/** The longest customization, in characters. */
const CUSTOMIZATION_LENGTH = 20_000;

/** @throws {ServiceError} `invalid` when the text is blank, too long, not plain text, or nobody is there to act on it */
export function checkCustomization(customization: string | undefined, appBuilder: AppBuilder | null): void {
  if (customization === undefined) return;
  if (customization.trim() === "")
    refuse("customization is blank. Leave it out, or say what the app should do differently.");
  if (customization.length > CUSTOMIZATION_LENGTH)
    refuse(`customization may have ${CUSTOMIZATION_LENGTH} characters at most.`);
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(customization) || !customization.isWellFormed())
    refuse("customization must be plain text without control characters.");
  if (appBuilder === null)
    refuse(
      "customization needs an app builder agent, and none is configured (BUILDER_COMMAND). Deploy without customization, or ask the operator for one.",
    );
}

function refuse(message: string): never {
  throw new ServiceError("invalid", message);
}
