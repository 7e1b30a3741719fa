import type { AppAnswer, AppCall, AppCaller } from "../../../domain/ports/app-caller.ts";
import { type AppAddress, exchange } from "./send-request.ts";
import { readAnswer, writeCall } from "./call-encoding.ts";

/** Calls apps the way everybody does, through their front door, with the app's own token. */
export class EdgeProxyCaller implements AppCaller {
  readonly #addressOf: (slug: string) => AppAddress;

  constructor(addressOf: (slug: string) => AppAddress) {
    this.#addressOf = addressOf;
  }

  async call(call: AppCall): Promise<AppAnswer> {
    const request = writeCall(call);
    const headers = { ...request.headers, authorization: `Bearer ${call.appToken}` };
    return readAnswer(
      await exchange(this.#addressOf(call.slug), { ...request, headers }, call.signal),
      call.invocation,
    );
  }
}
