import { appToken } from "../../../domain/apps/app-token.ts";
import type { App } from "../../../domain/apps/app.entity.ts";
import type { DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";
import { replaceProcedures } from "../../../domain/procedures/replace-procedures.ts";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import { newestDeployment } from "../service/given-app.ts";
import type { Harness, Tenant } from "../service/harness.ts";
import { provision } from "./platform-resources.ts";
import type { FormOptions } from "./upload-form.ts";

/** Creates a procedure of an app. It is called with `GET` (a query) or `POST` (a mutation) at `/<name>`. */
export function discoveredProcedure(
  name: string,
  kind: DiscoveredProcedure["kind"] = "query",
  overrides: Partial<DiscoveredProcedure> = {},
): DiscoveredProcedure {
  const method = kind === "query" ? "GET" : "POST";
  return {
    name,
    kind,
    description: "",
    inputSchema: { type: "object" },
    outputSchema: null,
    invocation: { via: "openapi", method, path: `/${name}`, parameters: [], body: null },
    ...overrides,
  };
}

/** Creates an app that is live and has `procedures` and `bindings`, without a build. */
export async function givenLiveApp(
  harness: Harness,
  tenant: Tenant,
  {
    script,
    procedures = [],
    bindings = [],
  }: { script: string; procedures?: DiscoveredProcedure[]; bindings?: FormOptions["bindings"] },
): Promise<App> {
  const { deploymentDeps } = harness.service.parts;
  const app = await harness.givenApp(tenant, { name: "live" });
  await provision(deploymentDeps, app, script, { bindings });
  await deploymentDeps.authEntries.put({
    appId: app.id,
    tokenSha256: sha256Hex(appToken(deploymentDeps.tokenSecret, app)),
  });
  await givenProcedures(harness, app, procedures);
  return app;
}

/** Sets the procedures of an app, whether or not its script implements them. */
export async function givenProcedures(harness: Harness, app: App, procedures: DiscoveredProcedure[]): Promise<void> {
  const em = harness.service.parts.orm.em.fork();
  await em.transactional((tx) => replaceProcedures(tx, newestDeployment(app), procedures));
}
