import type { ServiceProcess } from "./start-servers.ts";

/** A deployment whose build does not end by itself. Disposing it deletes the app, which ends the build. */
export interface RunningBuild extends AsyncDisposable {
  /** The URL of the app in the REST API. */
  appUrl: string;
  authorization: string;
}

/** Deploys a repository in an organization of its own. */
export async function startBuild(service: ServiceProcess, repo: string, signal: AbortSignal): Promise<RunningBuild> {
  const { api_key: apiKey } = await service.call("createOrganization");
  const url = `${await service.call("publicUrl")}/v1/apps`;
  const authorization = `Bearer ${apiKey}`;
  const headers = { authorization, "content-type": "application/json" };
  const response = await fetch(`${url}/deploy`, { method: "POST", headers, body: JSON.stringify({ repo }), signal });
  if (response.status !== 201) throw new Error(`The deploy request returned ${response.status}.`);
  const { app_id: id } = (await response.json()) as { app_id: string };
  const appUrl = `${url}/${id}`;
  return {
    appUrl,
    authorization,
    async [Symbol.asyncDispose]() {
      await fetch(appUrl, { method: "DELETE", headers: { authorization } });
    },
  };
}
