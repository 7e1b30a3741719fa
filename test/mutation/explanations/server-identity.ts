import type { Explanation } from "./explanation.ts";

const NAME = "The name of an error, which only the log shows.";
const TEXT = "The text of an error.";
const BRACKETS = "Equivalent: a host has brackets only at both ends, and then it has no dot.";
const ISSUE = "Never evaluated: a document that is not valid has an issue with a path and a message.";
const NO_PROVIDER = "Never evaluated: the plugin of the OAuth provider is always loaded.";
const EXISTING_CLIENT = "Equivalent but slower: better-auth finds the stored client itself when its insert fails.";
const STATUS_400 = "Equivalent: better-auth rejects a document with the status 400 only.";
const CHECKED_PATHS = "Equivalent but slower: the function itself checks the path, which has only GET requests.";
const SEPARATOR = "Equivalent: only line breaks separate the statements, and the other one removes them.";
const HAS_URL = "Never evaluated: a request that reaches the endpoint has a URL that can be parsed.";
const NO_BODY = "Equivalent: Fastify reads no body of a GET request, and undefined is no body, too.";
const NO_TARGET = "Equivalent: the text is the path of another page of the service.";

export const SERVER_IDENTITY: Record<string, Explanation[]> = {
  "server/identity/auth-call.ts": [
    {
      original: '"/sign-in/email"',
      reason: "`rate-limits.test.ts` detects it; the area leaves it out, as it starts a service.",
    },
  ],
  "server/identity/auth-options.ts": [
    { original: '"App Provisioning Service"', reason: "Never shown: no plugin for a second factor is used." },
    { original: '"/consent"', reason: "Never used: no user is redirected to the page after the sign-in." },
    { original: "() => false", reason: "Equivalent: undefined is false, too." },
    { original: '{ verificationUri: "/device" }', reason: "Equivalent: it is the default of better-auth." },
    { original: '"/device"', reason: "Equivalent: it is the default of better-auth." },
  ],
  "server/identity/authorization-error-page.ts": [
    { original: '""', reason: "Never evaluated: every character of the expression has an entity." },
  ],
  "server/identity/authorization-error.ts": [
    { original: "location === null", replacement: "false", reason: NO_TARGET },
    {
      original: "location !== null",
      replacement: "false",
      reason: "Equivalent: a redirect has another status than 200.",
    },
    { original: 'typeof body["url"] === "string"', replacement: "true", reason: NO_TARGET },
  ],
  "server/identity/client-id-url.ts": [
    { original: '"UnusableClient"', reason: NAME },
    { original: "/^\\[|\\]$/g", reason: BRACKETS },
    { original: '""', replacement: '"Stryker was here!"', reason: BRACKETS },
  ],
  "server/identity/client-metadata-registration.ts": [
    {
      original: "readFreshUntil(stored) > Date.now()",
      replacement: "readFreshUntil(stored) >= Date.now()",
      reason: "Differs for one millisecond.",
    },
    { original: "stored.redirectUris?.includes", reason: "Equivalent: the column is never null." },
    { original: "provider === null", replacement: "false", reason: NO_PROVIDER },
    { original: 'throw new Error("better-auth has no OAuth provider plugin");', reason: NO_PROVIDER },
    { original: "stored !== null && { existingClient: stored }", reason: EXISTING_CLIENT },
    { original: "stored !== null", reason: EXISTING_CLIENT },
    { original: "{ existingClient: stored }", reason: EXISTING_CLIENT },
    { original: "!(error instanceof APIError) || error.statusCode !== 400", reason: STATUS_400 },
    { original: "error.statusCode !== 400", reason: STATUS_400 },
  ],
  "server/identity/client-metadata.ts": [
    { original: '"the document"', reason: ISSUE },
    { original: '"is not valid"', reason: ISSUE },
    { original: "issue?.path", reason: ISSUE },
    { original: "issue?.message", reason: ISSUE },
    {
      original:
        '"must be https URLs, http URLs of localhost, 127.0.0.1 or [::1], or URLs of a program\'s own scheme such as com.example.app:/callback"',
      reason: TEXT,
    },
    { original: '["code"]', reason: "Equivalent: the response types of the document are not used." },
    { original: '"code"', reason: "Equivalent: the response types of the document are not used." },
  ],
  "server/identity/consented-organization.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: "Equivalent: neither is the id of a client." },
  ],
  "server/identity/date-columns.ts": [
    { original: "fieldName ?? key", reason: "Equivalent: every column has the name of its field." },
  ],
  "server/identity/hooks.ts": [
    { original: "path === AUTHORIZE", replacement: "true", reason: "Equivalent: no other request has the field." },
    { original: 'method === "GET"', replacement: "true", reason: CHECKED_PATHS },
    {
      original: "path === REGISTER_CLIENT",
      replacement: "true",
      reason: "Equivalent: no other endpoint has the fields of a registration.",
    },
    {
      original: "!(error instanceof RateLimited)",
      replacement: "false",
      reason: "Not caught: only an outage of the database or of Redis causes another error.",
    },
    { original: '""', reason: "Equivalent: neither is the address of a user." },
    {
      original: "() => null",
      replacement: "() => undefined",
      reason: "Not caught: only an outage of the database causes an error.",
    },
    {
      original: "path === CHANGE_PASSWORD",
      replacement: "true",
      reason: "Equivalent: of the enabled endpoints, no other one responds with this code.",
    },
    {
      original: "/^\\/(organization\\/|change-password|sign-out|revoke-)/",
      reason: "Equivalent: no path contains it elsewhere.",
    },
  ],
  "server/identity/identity.ts": [
    { original: "/:\\d+$/", replacement: "/:\\d+/", reason: "Equivalent: a domain has no other colon." },
    { original: "[]", replacement: '["Stryker was here"]', reason: "Equivalent: no host has this name." },
    {
      original: 'level === "error"',
      replacement: "true",
      reason: "Not caught: the tests cause no warning that contains an error.",
    },
  ],
  "server/identity/internet-reachability.ts": [
    { original: "clearTimeout(this.#timer);", reason: "Equivalent: the check that follows is aborted." },
    {
      original: "{ reachableMs: 600_000, unreachableMs: 60_000 }",
      reason: "Not caught: the tests choose shorter intervals.",
    },
  ],
  "server/identity/invitation-link.ts": [
    { original: "new Date(expiresAt) > new Date()", reason: "Differs for one millisecond." },
  ],
  "server/identity/open-auth.ts": [
    { original: '"the schema does not depend on the secret"', reason: "Equivalent, as the text says." },
    { original: "{ github: null, google: null }", reason: "Equivalent: the schema does not depend on it." },
    {
      original: '() => Promise.reject(new Error("the schema needs no consent"))',
      reason: "Never called, as the text says.",
    },
    { original: "/;\\s*(?:\\n|$)/", replacement: "/;\\S*(?:\\n|$)/", reason: SEPARATOR },
    { original: "statement.trim()", replacement: "statement", reason: SEPARATOR },
  ],
  "server/identity/plugin.ts": [
    { original: '"/"', reason: HAS_URL },
    { original: 'URL.parse(raw.url ?? "", "http://localhost")?.pathname', reason: HAS_URL },
    { original: "[]", reason: "Never evaluated: every header that Node passes on has a value." },
    {
      original: '""',
      reason: "Never evaluated, or equivalent: neither text is a path, an error code or the error page.",
    },
    { original: 'body === undefined || request.method === "GET"', reason: NO_BODY },
    { original: "body === undefined", replacement: "false", reason: NO_BODY },
    { original: 'request.method === "GET"', replacement: "false", reason: NO_BODY },
    { original: '"GET"', replacement: '""', reason: NO_BODY },
    { original: "response.body === null", replacement: "false", reason: "Equivalent: no body has an empty buffer." },
  ],
  "server/identity/private-use-redirects.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: "Never evaluated: every text has a first part." },
    {
      original: "SCHEME.exec(uri)?.[1]?.toLowerCase",
      reason: "Equivalent: the expression finds a scheme or nothing.",
    },
    {
      original: 'typeof uri !== "string"',
      replacement: "false",
      reason: "Equivalent: the text of any value is no scheme.",
    },
  ],
  "server/identity/redact-organization.ts": [
    { original: "role === null", replacement: "false", reason: "Equivalent: null does not reach the role admin." },
    { original: '""', replacement: '"Stryker was here!"', reason: "Equivalent: both count as the lowest role." },
  ],
  "server/identity/refresh-lock.ts": [
    {
      original: "`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true)`",
      reason: "Not caught: a test would wait for ten seconds.",
    },
    { original: 'request.method !== "POST"', replacement: "false", reason: "Equivalent: no other request has a form." },
  ],
  "server/identity/side-effects.ts": [
    {
      original: "clientId !== null",
      replacement: "true",
      reason: "Equivalent but slower: no client has the id null.",
    },
  ],
  "server/identity/sign-up-policy.ts": [
    {
      original: '""',
      replacement: '"Stryker was here!"',
      reason: "Never evaluated: the condition is added only if there is an id.",
    },
  ],
  "server/identity/token-request-client.ts": [
    {
      original: '""',
      replacement: '"Stryker was here!"',
      reason: "Equivalent: neither is a header of the scheme Basic.",
    },
    { original: "[]", replacement: '["Stryker was here"]', reason: "Equivalent: the first element is not read." },
  ],
  "server/identity/validate-auth-input.ts": [{ original: '", "', reason: TEXT }],
};
