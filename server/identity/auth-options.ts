import { mcp } from "@better-auth/mcp";
import { oauthDeviceAuthorization } from "@better-auth/oauth-provider";
import type { BetterAuthOptions, BetterAuthPlugin } from "better-auth";
import { bearer, jwt, organization } from "better-auth/plugins";
import { IDENTITY_SCOPES, SCOPES } from "../../domain/shared/scopes.ts";
import type { Config } from "../config.ts";
import { CLIENT_ADDRESS_HEADER } from "../http/client-address.ts";
import { listOwnOrigins } from "../http/own-origins.ts";
import { organizationClaims } from "./consented-organization.ts";
import { storePrivateUseRedirects } from "./private-use-redirects.ts";

export interface IdentityOptions {
  /** The public base URL, without a trailing slash. It is the issuer of every access token. */
  publicUrl: string;
  secret: string;
  social: Config["social"];
  /** Accepts OAuth clients that publish a metadata document; `null` when clients must register. */
  clientMetadataRegistration: BetterAuthPlugin | null;
  /** Returns what is stored with the consent of a user and passed to `organizationClaims`. */
  resolveConsentedOrganization(userId: string): Promise<string>;
  hooks: Pick<BetterAuthOptions, "hooks" | "databaseHooks" | "logger" | "onAPIError">;
}

const DAY_SECONDS = 86_400;
/** The lifetime of an access token, in seconds. The token of a removed member is rejected at once, whatever its lifetime. */
const ACCESS_TOKEN_SECONDS = 900;

/** A user who is a member of this many organizations cannot create another one. Without a bound, a user could multiply their plan. */
const MAX_ORGANIZATIONS = 20;

const DISABLED_PATHS = [
  // Email addresses are not verified: anyone who signs up with an address could list and accept its invitations.
  "/organization/list-user-invitations",
  // It would let an attacker test passwords.
  "/verify-password",
  // Clients register themselves. None needs a client secret or an owner.
  "/oauth2/create-client",
  "/oauth2/update-client",
  "/oauth2/client/rotate-secret",
];

/** The options of better-auth. Its tables depend on them, so a change may need `npm run migration -- --auth`. */
export function authOptions(options: IdentityOptions) {
  const { publicUrl, secret, social } = options;
  const secure = publicUrl.startsWith("https:");
  return {
    appName: "App Provisioning Service",
    baseURL: publicUrl,
    trustedOrigins: listOwnOrigins(publicUrl),
    basePath: "/api/auth",
    secret,
    telemetry: { enabled: false },
    emailAndPassword: { enabled: true, minPasswordLength: 10, revokeSessionsOnPasswordReset: true },
    socialProviders: {
      ...(social.github === null ? {} : { github: social.github }),
      ...(social.google === null ? {} : { google: social.google }),
    },
    // No linking by email address: two users may have the same address at two providers.
    // Provider tokens are not stored: hooks.ts removes them at sign-up, and later sign-ins do not update the account.
    account: { accountLinking: { enabled: false }, encryptOAuthTokens: true, updateAccountOnSignIn: false },
    session: { expiresIn: 7 * DAY_SECONDS, updateAge: DAY_SECONDS, cookieCache: { enabled: false } },
    // hooks.ts limits failed sign-ins, with a counter that all processes share.
    rateLimit: { enabled: false },
    ...options.hooks,
    disabledPaths: DISABLED_PATHS,
    advanced: {
      // Set explicitly, because better-auth turns these checks off when it detects a test environment.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      database: { generateId: "uuid", validateSchema: false },
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_HEADER] },
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", secure },
      // The __Host- prefix: otherwise an app on a sibling host could set this cookie and sign users in as another user.
      useSecureCookies: false,
      cookiePrefix: secure ? "__Host-service" : "service",
    },
    plugins: plugins(options),
  } satisfies BetterAuthOptions;
}

function plugins({ publicUrl, clientMetadataRegistration, resolveConsentedOrganization }: IdentityOptions) {
  const resources = listOwnOrigins(publicUrl).flatMap((origin) => [`${origin}/mcp`, `${origin}/v1`]);
  return [
    storePrivateUseRedirects(),
    organization({ disableOrganizationDeletion: true, organizationLimit: MAX_ORGANIZATIONS }),
    bearer({ requireSignature: true }),
    jwt({
      disableSettingJwtHeader: true,
      jwks: { keyPairConfig: { alg: "RS256", modulusLength: 2048 }, rotationInterval: 30 * DAY_SECONDS },
      jwt: {
        issuer: publicUrl,
        audience: publicUrl,
        expirationTime: "15m",
        definePayload: ({ session }) => ({ sid: session.id, active_org: session["activeOrganizationId"] ?? null }),
      },
    }),
    mcp({
      loginPage: "/sign-in",
      consentPage: "/consent",
      resource: `${publicUrl}/mcp`,
      resources,
      clientRegistrationDefaultResources: resources,
      scopes: [...Object.keys(IDENTITY_SCOPES), ...SCOPES],
      accessTokenExpiresIn: ACCESS_TOKEN_SECONDS,
      // The consent page also asks for the organization, so there is no other page to redirect to.
      postLogin: {
        page: "/consent",
        shouldRedirect: () => false,
        consentReferenceId: ({ user }) => resolveConsentedOrganization(user.id),
      },
      customAccessTokenClaims: ({ referenceId }) => organizationClaims(referenceId),
      allowDynamicClientRegistration: true,
      // A client that knows only the URL of the gateway registers itself.
      allowUnauthenticatedClientRegistration: true,
    }),
    oauthDeviceAuthorization({ verificationUri: "/device" }),
    ...(clientMetadataRegistration === null ? [] : [clientMetadataRegistration]),
  ];
}
