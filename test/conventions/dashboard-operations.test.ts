import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { betterAuth } from "better-auth";
import { expect, test } from "vitest";
import { authOptions } from "../../server/identity/auth-options.ts";
import { OPERATIONS } from "../../server/rest/operations.ts";

const DASHBOARD = path.resolve(import.meta.dirname, "../../clients/dashboard/src");

/** The operations that no page calls, each with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "agentRuntimes.declare": "a runtime declares what it has",
  "agentRuntimes.get": "a runtime declares what it has",
  "apps.logs": "pages follow the stream of the deployment's log",
  "deployments.logs": "pages follow the stream of the deployment's log",
  "events.list": "pages follow the stream of events",
  "apps.export": "a file of the REST API, for the command line",
  "apps.import": "sent as a file to the REST API",
  "archives.upload": "sent as a file to the REST API",
  "knowledge.add": "sent as JSON or a file to the REST API, because the body may be large",
  "knowledge.addArchive": "pages unpack an archive and send its files one by one, to show what becomes of each",
  "knowledge.change": "sent as JSON to the REST API, because the body may be large",
  "memories.get": "the list has the whole memories",
  "projectDocuments.add": "sent as JSON or a file to the REST API, because the body may be large",
  "projectDocuments.change": "sent as JSON to the REST API, because the body may be large",
  "sessions.append": "agents write their sessions",
  "sessions.close": "agents write their sessions",
  "sessions.import": "sent as a file to the REST API",
  "sessions.open": "agents write their sessions",
  "sessions.usage": "the list of sessions has the tokens of each, and the page of usage their sum",
  "skills.upload": "sent as a file to the REST API",
};

const PROTOCOL = "OAuth clients and browsers call it, not pages";
const NO_EMAIL = "turned off: the service sends no email";
const CONNECTIONS = "oauthConnections.list and oauthConnections.revoke do it, with the organization and the last use";

/** The routes of the identity provider that no page calls, each with the reason. */
const LEFT_OUT_ROUTES: Readonly<Record<string, string>> = {
  "/account-info": "pages show nothing that only a social provider knows",
  "/callback/:id": PROTOCOL,
  "/change-email": NO_EMAIL,
  "/delete-user": "turned off: a user's tokens, apps and audit events need an owner",
  "/delete-user/callback": NO_EMAIL,
  "/device/code": PROTOCOL,
  "/device/token": PROTOCOL,
  "/error": PROTOCOL,
  "/get-access-token": "tokens of social providers are not stored",
  "/jwks": PROTOCOL,
  "/link-social": "turned off: accounts of different providers are not linked",
  "/oauth2/authorize": PROTOCOL,
  "/oauth2/continue": "the consent page also asks for the organization, so there is no other step",
  "/oauth2/delete-client": "clients delete their own registration",
  "/oauth2/delete-consent": CONNECTIONS,
  "/oauth2/end-session": PROTOCOL,
  "/oauth2/end-session/confirm": PROTOCOL,
  "/oauth2/get-client": CONNECTIONS,
  "/oauth2/get-clients": CONNECTIONS,
  "/oauth2/get-consent": CONNECTIONS,
  "/oauth2/get-consents": CONNECTIONS,
  "/oauth2/introspect": PROTOCOL,
  "/oauth2/public-client-prelogin": "the consent page asks after the sign-in",
  "/oauth2/register": PROTOCOL,
  "/oauth2/revoke": PROTOCOL,
  "/oauth2/token": PROTOCOL,
  "/oauth2/update-consent": CONNECTIONS,
  "/oauth2/userinfo": PROTOCOL,
  "/ok": "a health check",
  "/organization/check-slug": "slugs have a random part",
  "/organization/delete": "turned off: an organization has apps, databases and an audit log",
  "/organization/get-active-member": "list-members has every member",
  "/organization/get-full-organization": "list, list-members and list-invitations have its parts, in pages",
  "/organization/get-organization": "list has the names",
  "/organization/has-permission": "pages derive it from the role",
  "/refresh-token": "tokens of social providers are not stored",
  "/request-password-reset": NO_EMAIL,
  "/reset-password": NO_EMAIL,
  "/reset-password/:token": NO_EMAIL,
  "/revoke-sessions": "revoke-other-sessions and sign-out do it",
  "/send-verification-email": NO_EMAIL,
  "/unlink-account": "turned off: accounts of different providers are not linked",
  "/update-session": "a session has nothing to change",
  "/verify-email": NO_EMAIL,
};

interface Endpoint {
  path?: string;
  options?: { metadata?: { SERVER_ONLY?: boolean } };
}

/** The paths of the identity provider that are served below `/api/auth`. */
function listIdentityRoutes(): string[] {
  const options = authOptions({
    publicUrl: "http://127.0.0.1:3000",
    secret: "the routes do not depend on the secret: 0f1e2d3c",
    social: { github: null, google: null },
    clientMetadataRegistration: null,
    resolveConsentedOrganization: () => Promise.resolve(""),
    hooks: {},
  });
  const endpoints = Object.values(betterAuth(options).api) as unknown as Endpoint[];
  return endpoints.flatMap(({ path, options: endpoint }) => {
    if (path === undefined || endpoint?.metadata?.SERVER_ONLY === true) return [];
    return options.disabledPaths.includes(path) ? [] : [path];
  });
}

/** Whether a page calls a route of the identity provider, with or without a query. */
function isCalled(route: string, callers: readonly string[]): boolean {
  return callers.some((text) => [`"${route}"`, `\`${route}?`].some((call) => text.includes(call)));
}

/** The procedures that the dashboard's code calls, such as `apps.deploy`. */
function readCalledProcedures(): Set<string> {
  const files = globSync("**/*.{ts,tsx}", { cwd: DASHBOARD });
  // A call may be broken into several lines.
  const source = files.map((file) => readSource(path.join(DASHBOARD, file))).join(";");
  return new Set([...source.matchAll(/[.](\w+[.]\w+)[.](?:query|mutate)\(/g)].map(([, name]) => name ?? ""));
}

/** The text of a file without spaces, with `api.projectDocuments` instead of a shorter name for it. */
function readSource(file: string): string {
  const text = readFileSync(file, "utf8").replaceAll(/\s+/g, "");
  const [, router, name] = /\{(\w+):(\w+)\}=api[;,]/.exec(text) ?? [];
  return router === undefined || name === undefined ? text : text.replaceAll(`${name}.`, `api.${router}.`);
}

test("everything that REST can do is done by a page of the dashboard, or left out for a reason", () => {
  const called = readCalledProcedures();
  const missing = OPERATIONS.map(({ procedure }) => procedure).filter(
    (procedure) => !called.has(procedure) && LEFT_OUT[procedure] === undefined,
  );
  expect(missing).toEqual([]);
  expect(Object.keys(LEFT_OUT).filter((procedure) => called.has(procedure))).toEqual([]);
});

test("everything that users can do at the identity provider is done by a page, or left out for a reason", () => {
  const files = globSync("**/*.{ts,tsx}", { cwd: DASHBOARD }).map((file) => readSource(path.join(DASHBOARD, file)));
  const callers = files.filter((text) => /callIdentity[(<]/.test(text));
  const routes = listIdentityRoutes();
  expect(routes).toContain("/organization/remove-member");
  expect(routes.filter((route) => !isCalled(route, callers) && LEFT_OUT_ROUTES[route] === undefined)).toEqual([]);
  const leftOut = Object.keys(LEFT_OUT_ROUTES);
  expect(leftOut.filter((route) => !routes.includes(route) || isCalled(route, callers))).toEqual([]);
});
