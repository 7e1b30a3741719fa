import type { AgentHosts } from "../ports/agent-host.ts";
import { ServiceError } from "../shared/errors.ts";
import { checkToken } from "../shared/token-rules.ts";
import type { ValueCipher } from "../shared/value-cipher.ts";

/** The dependencies of functions that store how to connect to a gateway. */
export interface ConnectionDeps {
  hosts: Pick<AgentHosts, "findUrlProblem">;
  /** Encrypts the tokens for gateways. */
  tokenCipher: ValueCipher;
}

const MAX_TOKEN_LENGTH = 1000;

/** @throws {ServiceError} `invalid` for a URL to which the service never connects, or a token that no gateway has */
export function checkConnection({ hosts }: ConnectionDeps, { url, token }: { url: string; token: string }): void {
  const problem = hosts.findUrlProblem(url);
  if (problem !== null) throw new ServiceError("invalid", `url: ${problem}.`);
  checkGatewayToken(token);
}

/** @throws {ServiceError} `invalid` */
export function checkGatewayToken(token: string): void {
  checkToken(token, MAX_TOKEN_LENGTH);
}

export function sealToken({ tokenCipher }: ConnectionDeps, serverId: string, token: string): string {
  return tokenCipher.seal(token, [serverId]);
}
