import { type ClientDiscovery, extendOAuthProvider, type SchemaClient, type Scope } from "@better-auth/oauth-provider";
import { registerClientMetadataDocument } from "@better-auth/oauth-provider/internal";
import type { BetterAuthPlugin, GenericEndpointContext } from "better-auth";
import { APIError } from "better-auth/api";
import { RateLimited } from "../../domain/shared/errors.ts";
import { type ClientMetadataFetcher, UnreadableClientMetadata } from "../../domain/ports/client-metadata.ts";
import type { Logger } from "../telemetry/logger.ts";
import { clientNetwork } from "../http/client-address.ts";
import { type ClientMetadata, clientMetadataIn } from "./client-metadata.ts";
import { checkClientUrl, isClientUrl, UnusableClient } from "./client-id-url.ts";
import { MetadataFetchLimiter } from "./metadata-fetch-limiter.ts";
import { addressOf } from "./audit-from-call.ts";

export interface ClientMetadataRegistrationOptions {
  documents: ClientMetadataFetcher;
  /** Hosts whose documents would pass as the service's own; one that begins with a dot stands for all below it. */
  ownHosts: readonly string[];
  log: Pick<Logger, "info">;
}

type Client = SchemaClient<Scope[]>;

/** Kept with a client as what it comes from, so it must stay. */
const ORIGIN = "cimd";
/** The only place where a document is read. Everything later goes by what was kept then, and asks nobody. */
const AUTHORIZE = "/oauth2/authorize";
const REDIRECT_RULE =
  "redirect_uris: must be https addresses, http ones of localhost, 127.0.0.1 or [::1], or of a scheme such as com.example.app:/";
/** For how long a document is not read again, whatever its server says, in seconds; and for how long when it says nothing. */
const FRESH_SECONDS = { least: 60, most: 3600, unsaid: 300 } as const;

/**
 * Lets OAuth clients in that have registered nowhere: their id is the URL of a document that says who they are
 * (draft-ietf-oauth-client-id-metadata-document). What the document says is kept as the client's registration, and read
 * again when somebody authorizes the client after it has become stale.
 */
export function clientMetadataRegistration(options: ClientMetadataRegistrationOptions): BetterAuthPlugin {
  const visits = new MetadataFetchLimiter<Client>();
  const clientDiscovery: ClientDiscovery = {
    id: ORIGIN,
    matches: isClientUrl,
    resolve: (context, clientId, known) => {
      if (context.path !== AUTHORIZE || known?.disabled === true) return known;
      return resolveClient(options, visits, { context, clientId, known });
    },
    discoveryMetadata: { client_id_metadata_document_supported: true },
  };
  return { id: ORIGIN, init: (context) => extendOAuthProvider(context, { clientDiscovery }) };
}

interface Asked {
  context: GenericEndpointContext;
  clientId: string;
  /** The client as it was kept; `null` when nobody has asked for it yet. */
  known: Client | null;
}

/** @throws {APIError} with what is wrong with the client, which nobody is redirected to then */
async function resolveClient(
  options: ClientMetadataRegistrationOptions,
  visits: MetadataFetchLimiter<Client>,
  asked: Asked,
): Promise<Client> {
  const { context, clientId: url, known } = asked;
  try {
    checkClientUrl(url, options.ownHosts);
    if (known !== null && freshUntil(known) > Date.now()) return known;
    const network = clientNetwork(addressOf(context.headers));
    return await visits.visit({ url, network, isFinal: isUnusable }, () => readClient(options, asked));
  } catch (error) {
    throw refusalOf(error);
  }
}

async function readClient({ documents, log }: ClientMetadataRegistrationOptions, asked: Asked): Promise<Client> {
  const { context, clientId, known } = asked;
  try {
    const { members, freshSeconds } = await documents.read(clientId);
    const metadata = clientMetadataIn(members, clientId);
    // Before the client is changed: a crash in between only has people asked once more.
    if (known !== null && hasChanged(known, metadata)) await forgetConsents(context, clientId);
    return await keep(asked, metadata, freshSeconds);
  } catch (error) {
    const said = asUnusable(error);
    if (said instanceof UnusableClient)
      log.info({ client: clientId, reason: said.message, err: said.cause }, "an OAuth client was refused");
    throw said;
  }
}

/** People who agreed did so to a client of this name that sends them to these addresses. */
function hasChanged(known: Client, { client_name: name, redirect_uris: uris, ...said }: ClientMetadata): boolean {
  const proof = said.token_endpoint_auth_method;
  return (
    known.name !== name ||
    known.tokenEndpointAuthMethod !== proof ||
    uris.some((uri) => !known.redirectUris?.includes(uri))
  );
}

async function forgetConsents({ context }: GenericEndpointContext, clientId: string): Promise<void> {
  await context.adapter.deleteMany({ model: "oauthConsent", where: [{ field: "clientId", value: clientId }] });
}

async function keep(
  { context, clientId, known }: Asked,
  metadata: ClientMetadata,
  said: number | null,
): Promise<Client> {
  const provider = context.context.getPlugin("oauth-provider");
  if (provider === null) throw new Error("there is no OAuth provider to keep a client for");
  const { least, most, unsaid } = FRESH_SECONDS;
  const seconds = Math.min(most, Math.max(least, said ?? unsaid));
  // What the provider keeps with a client for others, and shows to nobody.
  const kept = { ...metadata, metadata: { fresh_until: Date.now() + seconds * 1000 } };
  const { client } = await registerClientMetadataDocument(context, provider.options, {
    clientId,
    clientDiscoveryId: ORIGIN,
    metadata: kept,
    ...(known !== null && { existingClient: known }),
  });
  return client;
}

/** In milliseconds since 1970; 0 when that was not kept. */
function freshUntil({ metadata }: Client): number {
  const kept = (typeof metadata === "string" ? JSON.parse(metadata) : metadata) as { fresh_until?: unknown } | null;
  return typeof kept?.fresh_until === "number" ? kept.fresh_until : 0;
}

/** What is the client's own fault, as such; anything else as it is. */
function asUnusable(error: unknown): unknown {
  if (error instanceof UnreadableClientMetadata)
    return new UnusableClient(`The client's metadata document cannot be read: ${error.message}.`, { cause: error });
  if (!(error instanceof APIError) || error.statusCode !== 400) return error;
  const { error: code, error_description: said } = (error.body ?? {}) as Record<string, unknown>;
  // What is said of an address holds it, and nothing that a document holds is handed on.
  const wrong = code === "invalid_redirect_uri" ? REDIRECT_RULE : String(said);
  return new UnusableClient(`The client's metadata document is not valid. ${wrong}.`);
}

function isUnusable(error: unknown): boolean {
  return error instanceof UnusableClient;
}

/** As OAuth says it. A client that is not to be trusted gives no address to send anybody to, so this is the answer. */
function refusalOf(error: unknown): unknown {
  if (error instanceof RateLimited) {
    const { message, retryAfterSeconds: wait } = error;
    const body = { error: "temporarily_unavailable", error_description: `${message} Try again in ${wait} seconds.` };
    return new APIError("TOO_MANY_REQUESTS", body, { "retry-after": String(wait) });
  }
  if (!isUnusable(error)) return error;
  return new APIError("BAD_REQUEST", { error: "invalid_client", error_description: (error as Error).message });
}
