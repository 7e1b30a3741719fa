import { EgressProxy, type EgressResult } from "../../sandbox/egress-proxy.ts";
import { isPublic, isReachable } from "../../sandbox/public-address.ts";
import type { BuildContext, BuildEgressOptions, BuildStep } from "./build-step.ts";
import { type BuildConnections, explainRefusedHost } from "./failures/explain-network.ts";
import { toSingleLine } from "./single-line.ts";
import { isTolerated } from "./tolerated-hosts.ts";

/** The network of a build script. */
export interface BuildNetwork extends AsyncDisposable {
  /** What a step needs to use it. The signal ends the step when it requests a host that is not allowed. */
  step: Pick<BuildStep, "network" | "signal"> & { env: Readonly<Record<string, string>> };
  /** Writes the hosts that were reached or refused since the last call to the build log. */
  report(): void;
  connections(): BuildConnections;
}

/** A build can request any number of hosts, and each one is held in memory and listed. */
const MAX_HOSTS = 100;

/** Local servers that a build starts are reached directly. */
const LOCAL_HOSTS = "localhost,127.0.0.1,::1,0.0.0.0,.localhost";

/** Node.js uses the proxy of the sandbox only with the first variable. */
const PROXY_ENV = { NODE_USE_ENV_PROXY: "1", NO_PROXY: LOCAL_HOSTS, no_proxy: LOCAL_HOSTS } as const;

/** Without the package registry, npm and pnpm would repeat a request for more than a minute. */
const WITHOUT_REGISTRY = { npm_config_fetch_retries: "0" } as const;

/**
 * Opens the network that the operator allows: the hosts of the setting, or all public ones if the app requests it. A request
 * to another host ends the build at once, because most tools would repeat it for minutes.
 */
export async function openBuildNetwork({ egress, request }: BuildContext): Promise<BuildNetwork> {
  if (request.network === true && egress?.isPublic !== true)
    request.onOutput(Buffer.from(`The build has no public network (BUILD_EGRESS=${egress?.setting ?? "none"}).\n`));
  const isOpen = request.network === true && egress?.isPublic === true;
  if (egress === null || (egress.hosts.length === 0 && !isOpen)) return noNetwork(egress);
  const connected = new Set<string>();
  /** The hosts that could not be reached, with the last reason. */
  const failed = new Map<string, EgressResult>();
  const refusal = new AbortController();
  const onRequest = (host: string, result: EgressResult) => {
    const shown = toSingleLine(host);
    if (result === "refused" && !isOpen && !isTolerated(host)) refusal.abort(explainRefusedHost([shown], egress));
    if (connected.size + failed.size >= MAX_HOSTS) return;
    if (result === "connected") connected.add(shown);
    else failed.set(shown, result);
  };
  const proxy = await EgressProxy.open({ ...addressRules(egress, isOpen), onRequest });
  const say = createReporter(request.onOutput);
  return {
    step: {
      network: { kind: "proxy", socketPath: proxy.socketPath },
      signal: refusal.signal,
      env: isOpen ? PROXY_ENV : { ...PROXY_ENV, ...WITHOUT_REGISTRY },
    },
    report: () => {
      say("The build connected to", connected);
      say("The build could not reach", new Set(failed.keys()));
    },
    connections: () => ({
      kind: isOpen ? "public" : "hosts",
      egress,
      failedHosts: [...failed]
        .flatMap(([host, result]) => (isOpen || result === "unreachable" ? [host] : []))
        .slice(0, 10),
    }),
    [Symbol.asyncDispose]: () => proxy.close(),
  };
}

function addressRules({ hosts, lookup, isAllowedAddress }: BuildEgressOptions, isOpen: boolean) {
  return {
    allow: isOpen ? ("public" as const) : hosts,
    isAllowedAddress: isAllowedAddress ?? (isOpen ? isPublic : isReachable),
    ...(lookup && { lookup }),
  };
}

/** Returns a function that writes a line about hosts to the build log, each host once. */
function createReporter(onOutput: BuildContext["request"]["onOutput"]) {
  const reported = new Set<string>();
  return (text: string, hosts: ReadonlySet<string>) => {
    const added = [...hosts].filter((host) => !reported.has(`${text} ${host}`));
    for (const host of added) reported.add(`${text} ${host}`);
    if (added.length > 0) onOutput(Buffer.from(`${text}: ${added.join(", ")}\n`));
  };
}

function noNetwork(egress: BuildEgressOptions | null): BuildNetwork {
  return {
    step: { network: { kind: "none" }, env: WITHOUT_REGISTRY },
    report: () => {},
    connections: () => ({ kind: "none", egress, failedHosts: [] }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
