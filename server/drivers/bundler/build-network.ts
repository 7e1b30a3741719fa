import type { SandboxNetwork } from "../../ports/sandbox.ts";
import { EgressProxy } from "../../sandbox/egress-proxy.ts";
import type { BuildContext } from "./build-step.ts";
import type { BuildConnections } from "./failures/explain-build.ts";
import { toSingleLine } from "./single-line.ts";

/** The network of a build script. */
export interface BuildNetwork extends AsyncDisposable {
  access: SandboxNetwork;
  /** Environment variables for the build script. */
  env: Readonly<Record<string, string>>;
  /** Writes the hosts that were reached or refused since the last call to the build log. */
  report(): void;
  connections(): BuildConnections;
}

/** A build can request any number of hosts, and each one is held in memory and listed. */
const MAX_HOSTS = 100;

/** Local servers that a build starts are reached directly. */
const LOCAL_HOSTS = "localhost,127.0.0.1,::1";

/** Node.js uses the proxy of the sandbox only with the first variable. */
const PROXY_ENV = { NODE_USE_ENV_PROXY: "1", NO_PROXY: LOCAL_HOSTS, no_proxy: LOCAL_HOSTS } as const;

/** Opens the network that the app requests, if the operator allows it. Otherwise the build script has none. */
export async function openBuildNetwork({ egress, request }: BuildContext): Promise<BuildNetwork> {
  if (request.network !== true || egress === null) return noNetwork(egress !== null, request);
  const [connected, refused] = [new Set<string>(), new Set<string>()];
  const onRequest = (host: string, isConnected: boolean) => {
    const hosts = isConnected ? connected : refused;
    if (hosts.size < MAX_HOSTS) hosts.add(toSingleLine(host));
  };
  const proxy = await EgressProxy.open({ ...egress, allow: "public", onRequest });
  const reported = new Set<string>();
  const say = (text: string, hosts: ReadonlySet<string>) => {
    const added = [...hosts].filter((host) => !reported.has(`${text} ${host}`));
    for (const host of added) reported.add(`${text} ${host}`);
    if (added.length > 0) request.onOutput(Buffer.from(`${text}: ${added.join(", ")}\n`));
  };
  return {
    access: { kind: "proxy", socketPath: proxy.socketPath },
    env: PROXY_ENV,
    report: () => {
      say("The build connected to", connected);
      say("The build could not reach", refused);
    },
    connections: () => ({ hasNetwork: true, isAllowed: true, refusedHosts: [...refused].slice(0, 10) }),
    [Symbol.asyncDispose]: () => proxy.close(),
  };
}

function noNetwork(isAllowed: boolean, { network, onOutput }: BuildContext["request"]): BuildNetwork {
  if (network === true)
    onOutput(Buffer.from("The build has no network: the operator does not allow it (BUILD_EGRESS=none).\n"));
  return {
    access: { kind: "none" },
    env: {},
    report: () => {},
    connections: () => ({ hasNetwork: false, isAllowed, refusedHosts: [] }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
