import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { callTool, type GatewayClient } from "../support/mcp-client.ts";

export interface CountedCall {
  tool: string;
  /** Of the name, the arguments and the structured content of the result. */
  tokens: number;
}

/** Calls tools for one job, and counts what an agent writes and reads. */
export class JobGateway {
  readonly calls: CountedCall[] = [];
  readonly #client: GatewayClient;

  constructor(client: GatewayClient) {
    this.#client = client;
  }

  /** @throws when the call fails */
  async call<T>(tool: string, input: object = {}): Promise<T> {
    const result = await callTool<T>(this.#client, tool, input);
    const tokens = countTokens(JSON.stringify({ name: tool, arguments: input })) + countTokens(JSON.stringify(result));
    this.calls.push({ tool, tokens });
    return result;
  }

  get tokens(): number {
    return this.calls.reduce((sum, { tokens }) => sum + tokens, 0);
  }
}
