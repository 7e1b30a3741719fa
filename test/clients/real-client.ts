import type { ClientRun } from "./client-run.ts";

/** The tool that every client calls. */
export const TOOL = "service_list_apps";

/** Some clients open a browser only if there is a display. Others then look for more than the command of the test. */
export const DISPLAY = { DISPLAY: ":99" };

/** What a client received from the gateway. */
export interface ClientResult {
  /** The names of the tools that the client listed, without the prefix of the client. */
  tools: string[];
  /** The result of `service_list_apps`, as the client shows it or sends it to its model. */
  toolResult: string;
}

/** A published MCP client, and how to drive it without a person. */
export interface RealClient {
  name: string;
  packageName: string;
  version: string;
  /** What users must know, for docs/clients.md. */
  limits?: readonly string[];
  /** A script of the package that its installation needs, relative to the package. */
  installScript?: string;
  /** Connects with a token in a header. */
  connectWithToken(run: ClientRun, token: string): Promise<ClientResult>;
  /** Connects with only the URL of the gateway. */
  connectWithOAuth(run: ClientRun): Promise<ClientResult>;
}
