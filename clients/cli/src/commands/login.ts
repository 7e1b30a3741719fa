import type { Command } from "commander";
import { createClient, type Output as ProcedureOutput } from "../../../sdk/src/client.ts";
import { CliError, EXIT, usageError } from "../cli-error.ts";
import type { Credentials, OAuthCredentials } from "../config-file.ts";
import { connect, type Context, readStdin } from "../context.ts";
import { OAuthClient } from "../oauth.ts";
import { openBrowser } from "../open-browser.ts";

type Account = ProcedureOutput<"account", "get">;

/** For a sign-in that could not be stored, also when the command is interrupted. */
const REVOKE_TIMEOUT_MS = 10_000;

export function defineLoginCommands(program: Command, context: () => Context): void {
  program
    .command("login")
    .summary("Sign in")
    .description(
      "Signs in on a page of the service. With --token, stores an API key from standard input instead, or a personal access token for svc mcp.",
    )
    .option("--token", "read an API key or a personal access token from standard input")
    .option("--no-browser", "only print the URL of the page")
    .action((options: { token?: boolean; browser: boolean }) => login(context(), options));
  program
    .command("logout")
    .summary("Sign out")
    .description("Ends the sign-in at the service, and removes its credentials from this machine.")
    .action(() => logout(context()));
  program
    .command("whoami")
    .summary("Show who you are signed in as")
    .action(() => showAccount(context()));
}

async function login(context: Context, options: { token?: boolean; browser: boolean }): Promise<void> {
  const { session, output } = context;
  const url = await session.url();
  // A file that cannot be written is reported before the user signs in.
  await session.config.checkSignInStorable();
  const ownToken = options.token === true ? await readToken(context) : null;
  if (ownToken?.startsWith("svp_") === true) return storePersonalAccessToken(context, url, ownToken);
  const credentials: Credentials =
    ownToken === null ? await signInOnPage(context, url, options.browser) : { kind: "token", token: ownToken };
  output.progress("Checking the sign-in …");
  const account = await storeCredentials(context, url, credentials).catch(async (error: unknown) => {
    // Otherwise the service would keep a sign-in that is stored nowhere.
    if (credentials.kind === "oauth") await revoke(url, credentials, AbortSignal.timeout(REVOKE_TIMEOUT_MS));
    throw error;
  });
  output.value({ url, ...account }, () => "");
  output.message(`Signed in to ${url} as ${describeAccount(account)}.`);
  if (session.hasOwnToken) output.message("SVC_TOKEN is set, and commands use it instead of this sign-in.");
}

async function storeCredentials({ session, signal }: Context, url: string, credentials: Credentials): Promise<Account> {
  const token = credentials.kind === "token" ? credentials.token : credentials.access_token;
  const account = await createClient({ url, token }).account.get({}, { signal });
  await session.config.update((config) => {
    config.url = url;
    config.services[url] = { credentials };
  });
  return account;
}

/** Ends a sign-in at the service. Returns whether that was possible. */
async function revoke(url: string, credentials: OAuthCredentials, signal: AbortSignal): Promise<boolean> {
  return new OAuthClient(url).revoke(credentials, signal).then(
    () => true,
    () => false,
  );
}

async function readToken(context: Context): Promise<string> {
  const token = (await readStdin(context, "The token")).trim();
  if (token.startsWith("svg_"))
    throw usageError("This token is only for an agent. Sign in with an API key (svk_…), or without --token.");
  return token;
}

/** Stores a token that only the tool gateway accepts. The sign-in for the other commands stays. */
async function storePersonalAccessToken({ session, output, signal }: Context, url: string, token: string) {
  output.progress("Checking the token …");
  // Loaded here, because only this kind of token needs it.
  const { GatewayConnection } = await import("../mcp/gateway-connection.ts");
  const tokenAdvice = "pass it to svc login --token";
  const connection = new GatewayConnection({ target: () => Promise.resolve({ url, token }), tokenAdvice });
  try {
    const ping = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }));
    await connection.post(ping, {}, { isSafe: true, signal });
  } catch (error) {
    const isRejected = (error as { status?: number | null }).status === 401;
    throw new CliError((error as Error).message, isRejected ? EXIT.notSignedIn : EXIT.failed, { cause: error });
  }
  await session.config.update((config) => {
    config.url = url;
    config.services[url] = { ...config.services[url], personal_access_token: token };
  });
  output.value({ url }, () => "");
  output.message(`Stored the personal access token for svc mcp at ${url}.`);
  if (session.hasOwnToken) output.message("SVC_TOKEN is set, and commands use it instead.");
}

async function signInOnPage(context: Context, url: string, mayOpenBrowser: boolean): Promise<Credentials> {
  const { output, signal, environment } = context;
  output.progress(`Connecting to ${url} …`);
  const oauth = new OAuthClient(url);
  const clientId = await oauth.register(signal);
  const code = await oauth.requestDeviceCode(clientId, signal);
  const page = code.verification_uri_complete ?? code.verification_uri;
  output.message(`Your code: ${formatCode(code.user_code)}`);
  const isOpened = mayOpenBrowser && (await openBrowser(page, environment));
  output.message(isOpened ? `A browser opens ${page}` : `Open this page in a browser: ${page}`);
  output.progress("Waiting for you to sign in …");
  return oauth.waitForApproval(clientId, code, signal);
}

function formatCode(code: string): string {
  return code.length === 8 ? `${code.slice(0, 4)}-${code.slice(4)}` : code;
}

async function logout({ session, output, signal }: Context): Promise<void> {
  const url = await session.url();
  const { credentials, personal_access_token: personalToken } = await session.settings();
  if (credentials === undefined && personalToken === undefined) {
    output.value({ url, was_signed_in: false }, () => "");
    output.message(`You are not signed in to ${url}.`);
    return;
  }
  // The credentials are removed first, so that they are gone even if the service cannot be reached.
  await session.config.update(({ services }) => void delete services[url]);
  if (credentials?.kind === "oauth") {
    output.progress("Signing out …");
    const isRevoked = await revoke(url, credentials, signal);
    if (!isRevoked) output.message("The service could not be reached. Revoke the access of svc on your account page.");
  }
  output.value({ url, was_signed_in: true }, () => "");
  output.message(`Signed out of ${url}.`);
}

async function showAccount(context: Context): Promise<void> {
  const client = await connect(context, "Reading your account …");
  const account = await client.account.get({}, { signal: context.signal });
  const url = await context.session.url();
  context.output.value(
    { url, ...account },
    () => `${describeAccount(account)}\nservice: ${url}\nscope: ${account.scope ?? "-"}`,
  );
}

function describeAccount({ user, organization, credential }: Account): string {
  const who =
    user === null
      ? `an ${credential === "api_key" ? "API key" : credential.replaceAll("_", " ")}`
      : `${user.name} (${user.email})`;
  return `${who}, ${organization.role} of ${organization.name}`;
}
