import { type AppCall, AppCallFailed, type AppCaller, type ProcedureResult } from "../../../domain/ports/app-caller.ts";
import type { Invocation } from "../../../domain/ports/procedure-discovery.ts";
import { InvalidArguments } from "./call-encoding.ts";
import { mcpCall } from "./mcp-call.ts";
import { openApiCall } from "./openapi-call.ts";
import { type AppAddress, type AppRequest, type AppResponse, sendAppRequest } from "./send-app-request.ts";
import { trpcCall } from "./trpc-call.ts";

/** Calls apps through the edge proxy, like any other client, with the app's own token. */
export class EdgeProxyCaller implements AppCaller {
  readonly #getAddress: (slug: string) => AppAddress;

  constructor(getAddress: (slug: string) => AppAddress) {
    this.#getAddress = getAddress;
  }

  async call(call: AppCall): Promise<ProcedureResult> {
    let request: AppRequest;
    try {
      request = encodeCall(call);
    } catch (error) {
      if (error instanceof InvalidArguments) return { ok: false, status: 400, message: error.message };
      throw error;
    }
    const headers = { ...request.headers, authorization: `Bearer ${call.appToken}` };
    const response = await sendAppRequest(this.#getAddress(call.slug), { ...request, headers }, call.signal);
    try {
      return decodeResponse(response, call.invocation);
    } catch (error) {
      if (error instanceof AppCallFailed) throw error;
      // Valid JSON can still violate the protocol, for example with a number in place of a list.
      throw new AppCallFailed("The app's response does not follow its protocol.", { cause: error });
    }
  }
}

function encodeCall(call: AppCall): AppRequest {
  const { invocation } = call;
  switch (invocation.via) {
    case "trpc":
      return trpcCall.encode(call, invocation);
    case "openapi":
      return openApiCall.encode(call, invocation);
    case "mcp":
      return mcpCall.encode(call, invocation);
  }
}

function decodeResponse(response: AppResponse, invocation: Invocation): ProcedureResult {
  switch (invocation.via) {
    case "trpc":
      return trpcCall.decode(response, invocation);
    case "openapi":
      return openApiCall.decode(response, invocation);
    case "mcp":
      return mcpCall.decode(response, invocation);
  }
}
