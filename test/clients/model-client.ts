import { TOKEN_VARIABLE } from "./add-server.ts";
import type { ClientRun } from "./client-run.ts";
import type { ClientResult, RealClient } from "./real-client.ts";

const PROMPT = "List my apps.";

/** A client that calls tools only for a model. */
export interface ModelClient extends Omit<RealClient, "connectWithToken" | "connectWithOAuth"> {
  program: string;
  /** The arguments before a prompt for the model. */
  promptArgs: string[];
  /** The client gives it to the names of the tools. */
  toolPrefix: string;
  /** Settings that the client reads from the environment. */
  environment(run: ClientRun): Record<string, string>;
  /** Adds the service to the settings of the client; without a token, only its URL. */
  configure(run: ClientRun, token: string | null): Promise<void>;
  signIn(run: ClientRun): Promise<void>;
}

/** Drives a client with a scripted model, which asks for a call of the tool. */
export function driveWithModel(client: ModelClient): RealClient {
  return {
    ...client,
    async connectWithToken(run, token) {
      await client.configure(run, token);
      return askModel(client, run, token);
    },
    async connectWithOAuth(run) {
      await client.configure(run, null);
      await client.signIn(run);
      return askModel(client, run, null);
    },
  };
}

/** Returns what the client sent to the scripted model. Fails if its output lacks the final text of the model. */
async function askModel(client: ModelClient, run: ClientRun, token: string | null): Promise<ClientResult> {
  const { program, promptArgs, toolPrefix } = client;
  const env = { ...client.environment(run), ...(token !== null && { [TOKEN_VARIABLE]: token }) };
  const output = await run.run(program, [...promptArgs, PROMPT], { env });
  const { model } = run;
  if (!output.includes("The apps are:"))
    throw new Error(
      `the client did not print the text of the model. It requested ${model.requests().join(", ")}:\n${output.slice(-4000)}`,
    );
  return {
    tools: model.tools().map((name) => name.replace(toolPrefix, "")),
    toolResult: model.toolResult(),
  };
}
