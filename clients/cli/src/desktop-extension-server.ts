import { CliError, EXIT } from "./cli-error.ts";
import { ConfigFile } from "./config-file.ts";
import { readEnvironment } from "./environment.ts";
import { Bridge } from "./mcp/bridge.ts";
import { GatewayConnection } from "./mcp/gateway-connection.ts";
import { Session } from "./session.ts";

// The server of the desktop extension: `svc mcp` with the settings that the user enters in the desktop application.
const environment = readEnvironment();
const session = new Session(new ConfigFile(environment.configFolder), environment, {});
const connection = new GatewayConnection({
  target: async () => {
    if (session.hasOwnToken) return session.target();
    const advice = `Create one at ${await session.url()}/settings/tokens, and enter it in the settings of this extension.`;
    throw new CliError(`The personal access token is missing. ${advice}`, EXIT.notSignedIn);
  },
  tokenAdvice: "enter it in the settings of this extension",
});

const closing = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => closing.abort());
// The application has ended, so there is nothing to do.
process.stdout.on("error", () => process.exit(EXIT.ok));
process.stderr.on("error", () => undefined);

await new Bridge({
  connection,
  stdin: process.stdin,
  stdout: process.stdout,
  log: (message) => process.stderr.write(`${message}\n`),
  signal: closing.signal,
}).run();
