import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect } from "vitest";
import type { TestOAuthClient } from "../identity/test-oauth-client.ts";

const INFO = { name: "a-client", version: "1.0.0" };

/**
 * Connects as the SDKs document it: the first attempt gets 401, the user signs in, the second attempt connects. Then lists
 * the tools.
 *
 * @param sdkVersion - the major version of the SDK
 * @returns the names of the tools
 */
export async function signInAndListTools(
  gatewayUrl: string,
  oauthClient: TestOAuthClient,
  sdkVersion: 1 | 2,
): Promise<string[]> {
  const url = new URL(gatewayUrl);
  const options = { authProvider: oauthClient as never };
  const connect = async (transport: Transport1 | Transport2) => {
    const client = sdkVersion === 1 ? new Client1(INFO) : new Client2(INFO);
    await client.connect(transport);
    const { tools } = await client.listTools();
    await client.close();
    return tools.map(({ name }) => name);
  };
  const createTransport = () => (sdkVersion === 1 ? new Transport1(url, options) : new Transport2(url, options));
  const first = createTransport();
  await expect(connect(first)).rejects.toThrow(/unauthorized/i);
  await (first as Transport2).finishAuth(oauthClient.code, oauthClient.issuer);
  return connect(createTransport());
}
