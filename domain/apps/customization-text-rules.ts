import type { AppBuilder } from "../ports/app-builder-agent.ts";
import { ServiceError } from "../shared/errors.ts";

/** The longest customization, in characters. */
const MAX_CUSTOMIZATION_LENGTH = 20_000;

/** @throws {ServiceError} `invalid` when the text is blank, too long or not plain text, or there is no app builder */
export function checkCustomization(customization: string | undefined, appBuilder: AppBuilder | null): void {
  if (customization === undefined) return;
  if (customization.trim() === "") reject("customization is blank. Omit it, or describe the changes to the app.");
  if (customization.length > MAX_CUSTOMIZATION_LENGTH)
    reject(`customization must have at most ${MAX_CUSTOMIZATION_LENGTH} characters.`);
  // oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(customization) || !customization.isWellFormed())
    reject("customization must be plain text without control characters.");
  if (appBuilder === null)
    reject(
      "customization needs a language model, and this service has none. Its operator configures one with MODEL_PROVIDER. Deploy without customization until then.",
    );
}

function reject(message: string): never {
  throw new ServiceError("invalid", message);
}
