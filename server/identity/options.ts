import { mcp } from "@better-auth/mcp";
import { oauthDeviceAuthorization } from "@better-auth/oauth-provider";
import type { BetterAuthOptions } from "better-auth";
import { bearer, jwt, organization } from "better-auth/plugins";
import { SCOPES } from "../../domain/caller.ts";
import type { Config } from "../config.ts";

export interface IdentityOptions {
  /** The public base URL, without a slash at its end. It is the issuer of every token. */
  publicUrl: string;
  secret: string;
  social: Config["social"];
  hooks: Pick<BetterAuthOptions, "hooks" | "databaseHooks" | "logger" | "onAPIError">;
}

/** The header in which the HTTP server hands on the address of the client; one that a client sends is replaced. */
export const ADDRESS_HEADER = "x-client-address";

const DAY_SECONDS = 86_400;
/** How long an access token is good for, in seconds. A member who is removed is refused at once all the same. */
const ACCESS_TOKEN_SECONDS = 900;

/** What better-auth is asked to do; its tables follow from this, so a change here may need `npm run migration:auth`. */
export function authOptions(options: IdentityOptions) {
  const { publicUrl, secret, social } = options;
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
    account: { accountLinking: { enabled: false }, encryptOAuthTokens: true },
    session: { expiresIn: 7 * DAY_SECONDS, updateAge: DAY_SECONDS, cookieCache: { enabled: false } },
    // Wrong passwords are counted by throttle.ts, on the counter that all processes share.
    rateLimit: { enabled: false },
    ...options.hooks,
    // Listing one's invitations by address would hand them to whoever signs up with that address first.
    disabledPaths: ["/organization/list-user-invitations"],
    advanced: {
      // Said aloud, because better-auth leaves them out by itself where it believes to be tested.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      database: { generateId: "uuid", validateSchema: false },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax" },
      cookiePrefix: "service",
    },
    plugins: plugins(options),
  } satisfies BetterAuthOptions;
}

function plugins({ publicUrl }: IdentityOptions) {
  return [
    organization({ disableOrganizationDeletion: true }),
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
  ];
}
