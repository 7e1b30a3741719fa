import { TestUser } from "../support/identity/test-user.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { createInstallation } from "../support/service/service-process.ts";
import { openBrowserUser } from "./browser-user.ts";

/** The service that all clients connect to, with one user and one app. */
export interface ClientTarget extends AsyncDisposable {
  gatewayUrl: string;
  personalToken: string;
  /** The app that `service_list_apps` returns. */
  appId: string;
  /** Whether the service could reach the internet when it started. */
  canReachInternet(): boolean;
  /** Signs in and allows access in a browser. */
  authorize(url: string): Promise<void>;
}

/** Starts the service with default settings and an empty data folder. */
export async function startClientTarget(): Promise<ClientTarget> {
  await using stack = new AsyncDisposableStack();
  const { publicUrl, output } = await stack.use(await createInstallation()).start();
  // The first user owns the organization of the first start.
  const owner = new TestUser(publicUrl);
  await owner.signUp();
  const accessToken = await owner.accessToken();
  const deployed = await new RestClient(publicUrl, accessToken).post("/v1/apps/deploy", { repo: "examples/hello" });
  if (deployed.status !== 201) throw new Error(`the deployment was rejected: ${deployed.text}`);
  const { tokens } = rpcClient(publicUrl, accessToken);
  const { token } = await tokens.issue.mutate({ kind: "personal_access_token", name: "Clients" });
  const browser = stack.use(await openBrowserUser(publicUrl, owner));
  const started = stack.move();
  return {
    gatewayUrl: `${publicUrl}/mcp`,
    personalToken: token,
    appId: String(deployed.body["app_id"]),
    canReachInternet: () => !output().includes("the internet cannot be reached"),
    authorize: (url) => browser.authorize(url),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
