import { expect, test } from "vitest";
import { UNSAFE_REDIRECT_URIS } from "../support/identity/oauth-requests.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

const CLIENT = {
  client_name: "Client",
  token_endpoint_auth_method: "none",
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  redirect_uris: ["https://client.example.com/callback"],
};

function register(fields: object) {
  return new TestUser(service().service.publicUrl).post("/oauth2/register", { ...CLIENT, ...fields });
}

test("a native client may register with loopback redirect URIs, with or without declaring that it is native", async () => {
  const loopback = ["http://127.0.0.1:33418/", "http://localhost/callback", "http://[::1]:1/"];
  for (const fields of [
    {},
    { redirect_uris: loopback },
    { redirect_uris: ["com.example.app:/callback"] },
    { redirect_uris: ["https://editor.example.com/redirect", ...loopback] },
    { redirect_uris: [...CLIENT.redirect_uris, ...loopback], application_type: "native" },
  ])
    expect([fields, (await register(fields)).status]).toEqual([fields, 201]);
});

test("a client registers also with an Authorization header, which is ignored", async () => {
  const user = new TestUser(service().service.publicUrl);
  for (const authorization of ["Bearer x", "Bearer", "Basic eDp5", `Bearer svp_${"x".repeat(49)}`]) {
    const { status } = await user.post("/oauth2/register", CLIENT, { authorization });
    expect([authorization, status]).toEqual([authorization, 201]);
  }
});

/** What clients send, as public bug reports show it. */
const REGISTRATIONS: Record<string, object> = {
  "Claude's hosted connector": {
    client_name: "claudeai",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    scope: "claudeai",
    redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
  },
  "Claude's hosted connector with a secret": {
    client_name: "Claude",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "client_secret_post",
    scope: "openid profile email offline_access claudeai",
    redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
  },
  "Claude Code": {
    client_name: "Claude Code (service)",
    redirect_uris: ["http://localhost:54545/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  ChatGPT: {
    client_name: "ChatGPT",
    redirect_uris: ["https://chatgpt.com/connector_platform_oauth_redirect"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "web",
    scope: null,
    logo_uri: null,
    contacts: null,
    jwks_uri: null,
    software_statement: null,
  },
  "VS Code": {
    client_name: "Visual Studio Code",
    client_uri: "https://code.visualstudio.com",
    grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
    response_types: ["code"],
    redirect_uris: [
      "https://insiders.vscode.dev/redirect",
      "https://vscode.dev/redirect",
      "http://127.0.0.1/",
      "http://127.0.0.1:33418/",
    ],
    token_endpoint_auth_method: "none",
    application_type: "native",
    scope: "read vscode:everything",
  },
  Cursor: {
    client_name: "Cursor",
    redirect_uris: [
      "cursor://anysphere.cursor-mcp/oauth/callback",
      "https://www.cursor.com/agents/mcp/oauth/callback",
      "http://localhost:8787/callback",
    ],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  "a client of the Python SDK": {
    redirect_uris: ["http://localhost:3030/callback"],
    token_endpoint_auth_method: "client_secret_post",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    scope: null,
    client_name: "Simple Auth Client",
    client_uri: null,
    logo_uri: null,
    contacts: null,
    tos_uri: null,
    policy_uri: null,
    jwks_uri: null,
    jwks: null,
    software_id: null,
    software_version: null,
  },
  "a client with empty members and members that no standard has": {
    client_name: "",
    redirect_uris: ["https://client.example.com/callback"],
    client_uri: "",
    logo_uri: "",
    contacts: [],
    post_logout_redirect_uris: [],
    resources: [],
    scope: "",
    "x-vendor": { nested: true },
    default_max_age: 3600,
    application_type: null,
    subject_type: null,
    dpop_bound_access_tokens: null,
  },
  "a client with grant and response types that the service does not have": {
    redirect_uris: ["https://client.example.com/callback"],
    grant_types: ["authorization_code", "implicit", "client_credentials"],
    response_types: ["code", "token", "code id_token"],
    token_endpoint_auth_method: "none",
  },
};

const ALL_SCOPES = "openid profile email offline_access read deploy everything";

test.each(Object.entries(REGISTRATIONS))(
  "%s can register, and gets the scopes that exist",
  async (_name, registration) => {
    const { status, body } = await new TestUser(service().service.publicUrl).post("/oauth2/register", registration);
    expect([status, body["scope"]]).toEqual([201, ALL_SCOPES]);
    const grantTypes = body["grant_types"] as string[];
    expect(grantTypes).toContain("authorization_code");
    expect(grantTypes.filter((type) => type === "implicit" || type === "client_credentials")).toEqual([]);
    expect(body["response_types"]).toEqual(["code"]);
  },
);

test.each([
  ["claudeai", ALL_SCOPES],
  ["claudeai read", "read"],
  ["read deploy vscode:all offline_access", "read deploy offline_access"],
])("an authorization request for the scopes %j asks the user for %j", async (scope, expected) => {
  const { publicUrl } = service().service;
  const user = new TestUser(publicUrl);
  const { body } = await register({});
  const search = new URLSearchParams({
    response_type: "code",
    client_id: String(body["client_id"]),
    redirect_uri: CLIENT.redirect_uris[0]!,
    code_challenge: "x".repeat(43),
    code_challenge_method: "S256",
    scope,
  });
  const response = await user.send("GET", `/api/auth/oauth2/authorize?${search.toString()}`);
  const destination = new URL(response.headers.get("location") ?? String(response.body["url"]), publicUrl);
  expect([destination.pathname, destination.searchParams.get("scope")]).toEqual(["/sign-in", expected]);
});

test("400 rejects a redirect URI that is a script, a file, a remote http URL or a URL with credentials", async () => {
  for (const redirectUri of UNSAFE_REDIRECT_URIS)
    for (const type of [{}, { application_type: "native" }, { application_type: "web" }]) {
      const response = await register({ redirect_uris: [redirectUri], ...type });
      expect([redirectUri, type, response.status]).toEqual([redirectUri, type, 400]);
    }
});

test("400 rejects a registration that claims extra rights, or contains a URL that the service would fetch", async () => {
  const invalid = [
    { skip_consent: true },
    { grant_types: ["client_credentials"], token_endpoint_auth_method: "client_secret_post" },
    { resources: ["https://elsewhere.example.com"] },
    { backchannel_logout_uri: "https://internal.example.com/" },
    { backchannel_logout_uri: "http://169.254.169.254/" },
    { jwks_uri: "https://internal.example.com/", token_endpoint_auth_method: "private_key_jwt" },
    { sector_identifier_uri: "https://internal.example.com/" },
  ];
  for (const fields of invalid) expect([fields, (await register(fields)).status]).toEqual([fields, 400]);
  const reserved = { client_id: "mine", skipConsent: true, requirePKCE: false, require_pkce: false, user_id: "me" };
  const { status, body } = await register(reserved);
  expect(status === 400 || body["client_id"] !== "mine").toBe(true);
});

test("400 rejects a registration with long texts, or with links that are not web addresses", async () => {
  const invalid = [
    { client_name: "x".repeat(101) },
    { client_name: "Client\0" },
    { redirect_uris: Array.from({ length: 21 }, (_, at) => `https://client.example.com/${at}`) },
    { software_id: "x".repeat(5000) },
    { contacts: Array.from({ length: 1000 }, () => "ada@example.com") },
    { client_uri: "javascript:alert(1)" },
    { logo_uri: "data:image/svg+xml,x" },
    { tos_uri: "javascript:alert(1)" },
    { policy_uri: "vbscript:x" },
  ];
  for (const fields of invalid) expect([fields, (await register(fields)).status]).toEqual([fields, 400]);
});

test("a client gets no authorization code before the user has consented, also with prompt=none", async () => {
  const { publicUrl } = service().service;
  const user = new TestUser(publicUrl);
  await user.signUp();
  const { body } = await register({});
  const query = {
    response_type: "code",
    client_id: String(body["client_id"]),
    redirect_uri: CLIENT.redirect_uris[0]!,
    code_challenge: "x".repeat(43),
    code_challenge_method: "S256",
    resource: `${publicUrl}/mcp`,
    scope: "read",
  };
  for (const prompt of [{}, { prompt: "none" }] as Record<string, string>[]) {
    const search = new URLSearchParams({ ...query, ...prompt });
    const response = await user.send("GET", `/api/auth/oauth2/authorize?${search.toString()}`);
    const destination = new URL(response.headers.get("location") ?? String(response.body["url"]), publicUrl);
    expect([prompt, destination.searchParams.has("code")]).toEqual([prompt, false]);
  }
});
