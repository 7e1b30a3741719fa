import path from "node:path";
import type { Config } from "../config.ts";
import type { RunningService } from "../composition/start-service.ts";

const UNSAFE = "WARNING: SANDBOX=none. Builds and apps run with the rights of this service and can read its secrets.";

const RESTORED = [
  `This installation was restored from a backup. It serves its apps, runs no jobs and changes nothing, because the installation`,
  `of the backup may still run. To make it active, stop it and run: npm run admin -- restore --take-over`,
];

/**
 * The text for the operator when the service is ready. The first start adds the tokens and an example request, and each later one where
 * the tokens are, until someone has signed up.
 */
export function startupMessage(
  {
    publicUrl,
    bootstrapped,
    isFirstRun,
    isRestoredCopy,
  }: Pick<RunningService, "publicUrl" | "bootstrapped" | "isFirstRun" | "isRestoredCopy">,
  config: Config,
): string {
  const tokensFile = path.join(config.dataDirectory, "bootstrap.json");
  const about = config.roles.has("api") ? `(reference: ${publicUrl}/docs)` : `(roles: ${[...config.roles].join(", ")})`;
  const lines = [``, `The service is ready at ${publicUrl} ${about}`];
  if (config.sandbox === "none") lines.push(``, UNSAFE);
  if (isRestoredCopy) lines.push(``, ...RESTORED);
  if (bootstrapped !== null)
    lines.push(
      ``,
      `A first organization was created. Its first tokens, which are also in`,
      `${tokensFile}:`,
      ``,
      `  API key                ${bootstrapped.api_key}`,
      `  Personal access token  ${bootstrapped.personal_access_token}`,
      ``,
      `The first user who signs up at ${publicUrl} becomes its owner. These tokens are invalid from then on.`,
      ``,
      `Deploy a first app:`,
      ``,
      `  curl -X POST ${publicUrl}/v1/apps/deploy \\`,
      `    -H "Authorization: Bearer ${bootstrapped.api_key}" \\`,
      `    -H "Content-Type: application/json" \\`,
      `    -d '{"repo": "examples/guestbook"}'`,
    );
  else if (isFirstRun && config.roles.has("api"))
    lines.push(
      ``,
      `Nobody has signed up yet. The first user who signs up at ${publicUrl} becomes the owner of the first organization.`,
      `Its tokens, which are valid until then, are in ${tokensFile}.`,
    );
  return `${lines.join("\n")}\n\n`;
}
