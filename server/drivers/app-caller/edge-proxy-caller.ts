import { type AppCall, AppCallFailed, type AppCaller, type ProcedureResult } from "../../../domain/ports/app-caller.ts";
import type { Invocation, McpInvocation } from "../../../domain/ports/procedure-discovery.ts";
import { InvalidArguments } from "./call-encoding.ts";
import { McpCaller } from "./mcp-call.ts";
import { openApiCall } from "./openapi-call.ts";
import {
  type AppAddress,
  type AppRequest,
  type AppResponse,
  ConnectionRefused,
  sendAppRequest,
} from "./send-app-request.ts";
import { trpcCall } from "./trpc-call.ts";

/** A protocol in which a call is one request. */
type PlainInvocation = Exclude<Invocation, McpInvocation>;

/**
 * Returns the address of an app.
 *
 * @param unreachable - the address that was returned before and refused a connection; another one is returned if there is one
 */
type GetAddress = (slug: string, unreachable?: AppAddress) => AppAddress;

/** Calls apps through the edge proxy, like any other client, with the app's own token. */
export class EdgeProxyCaller implements AppCaller {
  readonly #getAddress: GetAddress;
  readonly #mcpCaller = new McpCaller();

  constructor(getAddress: GetAddress) {
    this.#getAddress = getAddress;
  }

  async call(call: AppCall): Promise<ProcedureResult> {
    try {
      return await this.#sendToReachable(call);
    } catch (error) {
      if (error instanceof InvalidArguments) return { ok: false, status: 400, message: error.message };
      throw error;
    }
  }

  /** Tries each address until one accepts the connection. A call that may have been received is not repeated. */
  async #sendToReachable(call: AppCall): Promise<ProcedureResult> {
    const tried = new Set<string>();
    let address = this.#getAddress(call.slug);
    for (;;)
      try {
        return await this.#send(call, address);
      } catch (error) {
        if (!(error instanceof ConnectionRefused)) throw error;
        tried.add(address.host);
        address = this.#getAddress(call.slug, address);
        if (tried.has(address.host)) throw error;
      }
  }

  async #send(call: AppCall, address: AppAddress): Promise<ProcedureResult> {
    const { invocation } = call;
    if (invocation.via === "mcp") return this.#mcpCaller.call(call, invocation, address);
    const request = encodeCall(call, invocation);
    const headers = { ...request.headers, authorization: `Bearer ${call.appToken}` };
    const response = await sendAppRequest(address, { ...request, headers }, call.signal);
    try {
      return decodeResponse(response, invocation);
    } catch (error) {
      if (error instanceof AppCallFailed) throw error;
      // Valid JSON can still violate the protocol, for example with a number in place of a list.
      throw new AppCallFailed("The app's response does not follow its protocol.", { cause: error });
    }
  }
}

function encodeCall(call: AppCall, invocation: PlainInvocation): AppRequest {
  switch (invocation.via) {
    case "trpc":
      return trpcCall.encode(call, invocation);
    case "openapi":
      return openApiCall.encode(call, invocation);
  }
}

function decodeResponse(response: AppResponse, invocation: PlainInvocation): ProcedureResult {
  switch (invocation.via) {
    case "trpc":
      return trpcCall.decode(response, invocation);
    case "openapi":
      return openApiCall.decode(response, invocation);
  }
}
