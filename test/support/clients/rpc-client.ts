import { createTRPCClient, httpBatchLink, TRPCClientError } from "@trpc/client";
import type { AppRouter } from "../../../routers/index.ts";

/** Creates the typed client that the dashboard and the command line use. */
export function rpcClient(publicUrl: string, token: string | null, headers: Record<string, string> = {}) {
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  return createTRPCClient<AppRouter>({
    links: [httpBatchLink({ url: `${publicUrl}/trpc`, headers: { ...authorization, ...headers } })],
  });
}

export interface RpcError {
  message: string;
  status: number | undefined;
  errorCode: string | undefined;
}

/** Returns the error with which a call is rejected. */
export async function rpcErrorOf(call: Promise<unknown>): Promise<RpcError> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof TRPCClientError)) throw error;
    const data = (error.data ?? {}) as { httpStatus?: number; errorCode?: string };
    return { message: error.message, status: data.httpStatus, errorCode: data.errorCode };
  }
  throw new Error("the call was not rejected");
}
