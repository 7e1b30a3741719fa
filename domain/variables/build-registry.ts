import type { BuildRegistry } from "../ports/bundler.ts";
import { BuildFailure } from "../shared/errors.ts";

/** Variables of the private registry of an app. Only the install uses them: neither build scripts nor the app get them. */
export const REGISTRY_VARIABLES = { url: "NPM_REGISTRY", token: "NPM_TOKEN" } as const;

const FORM = /^(?:(@[a-z0-9~][a-z0-9._~-]*):)?(https:\/\/\S+)$/;

/**
 * Returns the private registry that the variables of an app name.
 *
 * @returns `null` if they name none
 * @throws {BuildFailure} `user` when NPM_REGISTRY is not valid, or NPM_TOKEN is missing or not secret
 */
export function readBuildRegistry(
  variables: readonly { name: string; value: string; isSecret: boolean }[],
): BuildRegistry | null {
  const registry = variables.find(({ name }) => name === REGISTRY_VARIABLES.url);
  const token = variables.find(({ name }) => name === REGISTRY_VARIABLES.token);
  if (registry === undefined) return null;
  const [, scope = null, address = ""] = FORM.exec(registry.value.trim()) ?? [];
  const url = URL.parse(address);
  if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw invalid(
      "NPM_REGISTRY is not an https URL, with or without a scope.",
      'Example: "@acme:https://npm.example.com/".',
    );
  if (token === undefined || token.value.trim() === "" || !token.isSecret)
    throw invalid("NPM_REGISTRY is set, but there is no secret NPM_TOKEN.", "Set NPM_TOKEN with secret: true.");
  return { url: `${url.href.replace(/\/$/, "")}/`, scope, token: token.value.trim() };
}

function invalid(message: string, advice: string): BuildFailure {
  return new BuildFailure("user", message, `${advice} Then deploy again.`);
}
