import { mcp } from "@better-auth/mcp";
import { oauthDeviceAuthorization } from "@better-auth/oauth-provider";
import type { BetterAuthOptions, BetterAuthPlugin } from "better-auth";
import { bearer, jwt, organization } from "better-auth/plugins";
import { SCOPES } from "../../domain/shared/caller.ts";
import type { Config } from "../config.ts";

export interface IdentityOptions {
  /** The public base URL, without a slash at its end. It is the issuer of every token. */
  publicUrl: string;
  secret: string;
  social: Config["social"];
  /** Lets clients in that publish their own metadata; `null` when they have to register. */
  clientMetadataRegistration: BetterAuthPlugin | null;
  hooks: Pick<BetterAuthOptions, "hooks" | "databaseHooks" | "logger" | "onAPIError">;
}

/** The header in which the HTTP server hands on the address of the client; one that a client sends is replaced. */
export const ADDRESS_HEADER = "x-client-address";

const DAY_SECONDS = 86_400;
/** How long an access token is good for, in seconds. A member who is removed is refused at once all the same. */
const ACCESS_TOKEN_SECONDS = 900;

/** How many organizations a person may belong to and still found another: each has a plan of its own. */
const ORGANIZATIONS = 20;

const DISABLED = [
  // Listing one's invitations by address would hand them to whoever signs up with that address first.
  "/organization/list-user-invitations",
  // It would tell a right password from a wrong one.
  "/verify-password",
  // Clients register themselves; none needs a secret, or a person who owns it.
  "/oauth2/create-client",
  "/oauth2/update-client",
  "/oauth2/client/rotate-secret",
];

/** What better-auth is asked to do; its tables follow from this, so a change here may need `npm run migration:auth`. */
export function authOptions(options: IdentityOptions) {
  const { publicUrl, secret, social } = options;
  const secure = publicUrl.startsWith("https:");
  return {
    appName: "App Provisioning Service",
    baseURL: publicUrl,
    basePath: "/api/auth",
    secret,
    telemetry: { enabled: false },
    emailAndPassword: { enabled: true, minPasswordLength: 10, revokeSessionsOnPasswordReset: true },
    socialProviders: {
      ...(social.github === null ? {} : { github: social.github }),
      ...(social.google === null ? {} : { google: social.google }),
    },
    // Two people may have the same address at two providers; only what a person signs in with is theirs.
    // A provider's tokens are of no use here: hooks.ts drops them at sign-up, and later ones are not taken.
    account: { accountLinking: { enabled: false }, encryptOAuthTokens: true, updateAccountOnSignIn: false },
    session: { expiresIn: 7 * DAY_SECONDS, updateAge: DAY_SECONDS, cookieCache: { enabled: false } },
    // Wrong passwords are counted by hooks.ts, on the counter that all processes share.
    rateLimit: { enabled: false },
    ...options.hooks,
    disabledPaths: DISABLED,
    advanced: {
      // Said aloud, because better-auth leaves them out by itself where it believes to be tested.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      database: { generateId: "uuid", validateSchema: false },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", secure },
      // An app on a host beside this one could else set a cookie for it, and sign people in as somebody else.
      useSecureCookies: false,
      cookiePrefix: secure ? "__Host-service" : "service",
    },
    plugins: plugins(options),
  } satisfies BetterAuthOptions;
}

function plugins({ publicUrl, clientMetadataRegistration }: IdentityOptions) {
  return [
    organization({ disableOrganizationDeletion: true, organizationLimit: ORGANIZATIONS }),
    bearer({ requireSignature: true }),
    jwt({
      disableSettingJwtHeader: true,
      jwks: { keyPairConfig: { alg: "RS256", modulusLength: 2048 }, rotationInterval: 30 * DAY_SECONDS },
      jwt: {
        issuer: publicUrl,
        audience: publicUrl,
        expirationTime: "15m",
        definePayload: ({ session }) => ({ sid: session.id }),
      },
    }),
    mcp({
      loginPage: "/sign-in",
      consentPage: "/consent",
      resource: `${publicUrl}/mcp`,
      resources: [`${publicUrl}/v1`],
      clientRegistrationDefaultResources: [`${publicUrl}/v1`],
      scopes: ["openid", "profile", "email", "offline_access", ...SCOPES],
      accessTokenExpiresIn: ACCESS_TOKEN_SECONDS,
      allowDynamicClientRegistration: true,
      // A client that is given nothing but the URL of the gateway has to introduce itself.
      allowUnauthenticatedClientRegistration: true,
    }),
    oauthDeviceAuthorization({ verificationUri: "/device" }),
    ...(clientMetadataRegistration === null ? [] : [clientMetadataRegistration]),
  ];
}
