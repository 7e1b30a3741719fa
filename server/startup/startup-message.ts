import path from "node:path";
import type { Config } from "../config.ts";
import type { Service } from "../composition/start-service.ts";

const UNSAFE = "WARNING: SANDBOX=none. Builds and apps run with the rights of this service and can read its secrets.";

/** The text for the operator when the service is ready. The first start adds the tokens and an example request. */
export function startupMessage(
  { publicUrl, bootstrapped }: Pick<Service, "publicUrl" | "bootstrapped">,
  config: Config,
): string {
  const lines = [``, `The service is ready at ${publicUrl} (reference: ${publicUrl}/docs)`];
  if (config.sandbox === "none") lines.push(``, UNSAFE);
  if (bootstrapped !== null)
    lines.push(
      ``,
      `A first organization was created. Its first tokens, which are also in`,
      `${path.join(config.dataDirectory, "bootstrap.json")}:`,
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
  return `${lines.join("\n")}\n\n`;
}
