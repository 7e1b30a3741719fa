import { type ClientDiscovery, extendOAuthProvider, type SchemaClient, type Scope } from "@better-auth/oauth-provider";
import { registerClientMetadataDocument } from "@better-auth/oauth-provider/internal";
import type { BetterAuthPlugin, GenericEndpointContext } from "better-auth";
import { APIError } from "better-auth/api";
import { RateLimited } from "../../domain/shared/errors.ts";
import { type ClientMetadataFetcher, UnreadableClientMetadata } from "../ports/client-metadata.ts";
import type { Logger } from "../telemetry/logger.ts";
import { clientNetwork } from "../http/client-address.ts";
import { readClientAddress } from "./auth-call.ts";
import { checkClientUrl, isClientUrl, UnusableClient } from "./client-id-url.ts";
import { type ClientMetadata, parseClientMetadata, REDIRECT_RULE } from "./client-metadata.ts";
import { MetadataFetchLimiter } from "./metadata-fetch-limiter.ts";
import { encodeRedirectUri } from "./private-use-redirects.ts";

export interface ClientMetadataRegistrationOptions {
  fetcher: ClientMetadataFetcher;
  /** Hosts whose documents could be mistaken for the service's own; a host with a leading dot includes its subdomains. */
  ownHosts: readonly string[];
  log: Pick<Logger, "info">;
  /** Whether clients are told now that they may publish a document. Such a client is accepted in any case. */
  isOffered(): boolean;
}

type Client = SchemaClient<Scope[]>;

/** Stored with each client as the way it was discovered. Do not change it. */
const DISCOVERY_ID = "cimd";
/** The only endpoint that fetches a document. All other endpoints use the stored registration. */
const AUTHORIZE = "/oauth2/authorize";
/** How long a document is considered fresh, in seconds: the bounds for its cache headers, and the default without any. */
const FRESHNESS_SECONDS = { min: 60, max: 3600, default: 300 } as const;

/**
 * Accepts OAuth clients without registration. Their id is the URL of their metadata document
 * (draft-ietf-oauth-client-id-metadata-document). The document is stored as the client's registration. It is fetched again
 * when a user authorizes the client after the stored copy has become stale.
 */
export function clientMetadataRegistration(options: ClientMetadataRegistrationOptions): BetterAuthPlugin {
  const limiter = new MetadataFetchLimiter<Client>();
  const clientDiscovery: ClientDiscovery = {
    id: DISCOVERY_ID,
    matches: isClientUrl,
    resolve: (context, clientId, stored) => {
      if (context.path !== AUTHORIZE || stored?.disabled === true) return stored;
      return resolveClient(options, limiter, { context, clientId, stored });
    },
    get discoveryMetadata() {
      return options.isOffered() ? { client_id_metadata_document_supported: true } : {};
    },
  };
  return { id: DISCOVERY_ID, init: (context) => extendOAuthProvider(context, { clientDiscovery }) };
}

interface ClientRequest {
  context: GenericEndpointContext;
  clientId: string;
  /** The stored registration; `null` when no user has authorized the client yet. */
  stored: Client | null;
}

/** @throws {APIError} that describes the problem. The browser is not redirected, because the client's URLs are not trusted. */
async function resolveClient(
  options: ClientMetadataRegistrationOptions,
  limiter: MetadataFetchLimiter<Client>,
  request: ClientRequest,
): Promise<Client> {
  const { context, clientId: url, stored } = request;
  try {
    checkClientUrl(url, options.ownHosts);
    if (stored !== null && readFreshUntil(stored) > Date.now()) return stored;
    const network = clientNetwork(readClientAddress(context.headers));
    const isFinal = (error: unknown) => error instanceof UnusableClient;
    return await limiter.run({ url, network, isFinal }, () => fetchAndStoreClient(options, request));
  } catch (error) {
    throw toOAuthError(error);
  }
}

async function fetchAndStoreClient(
  { fetcher, log }: ClientMetadataRegistrationOptions,
  request: ClientRequest,
): Promise<Client> {
  const { context, clientId, stored } = request;
  try {
    const { members, freshSeconds } = await fetcher.fetch(clientId);
    const metadata = parseClientMetadata(members, clientId);
    // Before the registration changes: after a crash in between, users are only asked for consent once more.
    if (stored !== null && needsNewConsent(stored, metadata)) await deleteConsents(context, clientId);
    return await storeClient(request, metadata, freshSeconds);
  } catch (cause) {
    const error = toUnusableClient(cause);
    if (error instanceof UnusableClient)
      log.info({ client: clientId, reason: error.message, err: error.cause }, "an OAuth client was refused");
    throw error;
  }
}

/** Users consented to a client with this name, these redirect URIs and this authentication method. */
function needsNewConsent(stored: Client, metadata: ClientMetadata): boolean {
  return (
    stored.name !== metadata.client_name ||
    stored.tokenEndpointAuthMethod !== metadata.token_endpoint_auth_method ||
    metadata.redirect_uris.some((uri) => !stored.redirectUris?.includes(uri))
  );
}

async function deleteConsents({ context }: GenericEndpointContext, clientId: string): Promise<void> {
  await context.adapter.deleteMany({ model: "oauthConsent", where: [{ field: "clientId", value: clientId }] });
}

async function storeClient(
  { context, clientId, stored }: ClientRequest,
  metadata: ClientMetadata,
  freshSeconds: number | null,
): Promise<Client> {
  const provider = context.context.getPlugin("oauth-provider");
  if (provider === null) throw new Error("better-auth has no OAuth provider plugin");
  const { min, max, default: fallback } = FRESHNESS_SECONDS;
  const seconds = Math.min(max, Math.max(min, freshSeconds ?? fallback));
  // The field `metadata` of a registration is for extensions. better-auth does not return it to anyone.
  const registration = {
    ...metadata,
    redirect_uris: metadata.redirect_uris.map(encodeRedirectUri),
    metadata: { fresh_until: Date.now() + seconds * 1000 },
  };
  const { client } = await registerClientMetadataDocument(context, provider.options, {
    clientId,
    clientDiscoveryId: DISCOVERY_ID,
    metadata: registration,
    ...(stored !== null && { existingClient: stored }),
  });
  return client;
}

/** In milliseconds since the epoch; 0 when it is not stored. */
function readFreshUntil({ metadata }: Client): number {
  const fields = (typeof metadata === "string" ? JSON.parse(metadata) : metadata) as { fresh_until?: unknown } | null;
  return typeof fields?.fresh_until === "number" ? fields.fresh_until : 0;
}

/** Converts an error that the client's maker can fix to `UnusableClient`. Returns any other error unchanged. */
function toUnusableClient(error: unknown): unknown {
  if (error instanceof UnreadableClientMetadata)
    return new UnusableClient(`The client's metadata document cannot be read: ${error.message}.`, { cause: error });
  if (!(error instanceof APIError) || error.statusCode !== 400) return error;
  const { error: code, error_description: description } = (error.body ?? {}) as Record<string, unknown>;
  const problem = code === "invalid_redirect_uri" ? `redirect_uris: ${REDIRECT_RULE}` : String(description);
  return new UnusableClient(`Invalid client metadata document. ${problem}.`);
}

/** The OAuth error response. It never redirects: an unusable client has no trusted redirect URI. */
function toOAuthError(error: unknown): unknown {
  if (error instanceof RateLimited) {
    const { message, retryAfterSeconds } = error;
    const body = {
      error: "temporarily_unavailable",
      error_description: `${message} Try again in ${retryAfterSeconds} seconds.`,
    };
    return new APIError("TOO_MANY_REQUESTS", body, { "retry-after": String(retryAfterSeconds) });
  }
  if (!(error instanceof UnusableClient)) return error;
  return new APIError("BAD_REQUEST", { error: "invalid_client", error_description: error.message });
}
