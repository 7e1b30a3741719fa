import type { Client } from "../../sdk/src/client.ts";
import { CliError } from "./cli-error.ts";
import { isId } from "./ids.ts";

/** Returns the id of an app by its id, its slug, or its name if only one app has it. */
export async function resolveAppId(client: Client, app: string, signal: AbortSignal): Promise<string> {
  if (isId(app)) return app;
  const { apps } = await client.apps.list({}, { signal });
  const found = apps.filter(({ slug }) => slug === app);
  const named = found.length > 0 ? found : apps.filter(({ name }) => name === app);
  const [only, ...others] = named;
  if (only === undefined) throw new CliError(`There is no app "${app}". List all apps with: svc apps list`);
  if (others.length === 0) return only.id;
  throw new CliError(`Several apps have the name "${app}". Use a slug: ${named.map(({ slug }) => slug).join(", ")}`);
}
