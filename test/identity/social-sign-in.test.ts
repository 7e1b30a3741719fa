import { randomInt, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HttpResponse } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import {
  CLIENTS,
  type ProviderFailure,
  type ProviderName,
  type ProviderUser,
  type SocialProviders,
  startSocialProviders,
} from "../support/identity/social-providers.ts";
import { authorizeWithConsent } from "../support/identity/test-oauth-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const PROVIDERS = ["github", "google"] as const;

let providers: SocialProviders;
beforeAll(async () => {
  providers = await startSocialProviders();
});
afterAll(() => providers[Symbol.asyncDispose]());

const createSocialHarness = (signUp: "invite" | "closed"): Promise<Harness> =>
  createHarness({ config: { signUp, social: CLIENTS } });
const openHarness = sharedHarness({ config: { signUp: "open", social: CLIENTS } });

const createProviderUser = (fields: Partial<ProviderUser> = {}): ProviderUser => ({
  subject: String(randomInt(2 ** 40)),
  email: `${randomUUID()}@example.com`,
  verified: true,
  ...fields,
});

/** Starts a sign-in like the sign-in page. Returns the authorization URL of the provider. */
async function startSignIn(user: TestUser, provider: ProviderName, extraFields: object = {}): Promise<string> {
  const pages = { callbackURL: "/settings/account", errorCallbackURL: "/sign-in" };
  const response = await user.post("/sign-in/social", { provider, ...pages, ...extraFields });
  return String(response.body["url"]);
}

const follow = (user: TestUser, redirect: URL): Promise<HttpResponse> =>
  user.visit(redirect.pathname + redirect.search);

async function signIn(user: TestUser, provider: ProviderName, account: ProviderUser): Promise<HttpResponse> {
  return follow(user, providers.consent(await startSignIn(user, provider), account));
}

/** Returns the user of the session; `undefined` without a session. */
async function getSessionUser(user: TestUser): Promise<Record<string, unknown> | undefined> {
  return (await user.get("/get-session")).body["user"] as Record<string, unknown> | undefined;
}

/** Follows the redirect to the service while the provider fails. */
async function followWithFailure(failure: ProviderFailure, user: TestUser, redirect: URL): Promise<HttpResponse> {
  providers.failure = failure;
  try {
    return await follow(user, redirect);
  } finally {
    providers.failure = "none";
  }
}

/** Expects a redirect to the sign-in page and returns its error code. */
function readSignInError({ status, headers }: HttpResponse): string | null {
  const page = new URL(headers.get("location") ?? "", "http://service");
  expect([status, page.pathname]).toEqual([302, "/sign-in"]);
  return page.searchParams.get("error");
}

async function countRows({ service }: Harness): Promise<unknown> {
  const counts = [
    `(select count(*) from auth."user")::int as users`,
    `(select count(*) from auth.account)::int as accounts`,
  ];
  return (await service.parts.orm.em.fork().execute<unknown[]>(`select ${counts.join()}`))[0];
}

for (const name of PROVIDERS)
  verifies(
    "rest.auth.jwt.sign_in",
    `the first user who signs in with ${name} owns the installation, and signs in as the same user later`,
    async () => {
      await using harness = await createSocialHarness("invite");
      const { publicUrl, bootstrapped } = harness.service;
      const account = createProviderUser();
      const user = new TestUser(publicUrl);
      const signedUp = await signIn(user, name, account);
      expect([signedUp.status, signedUp.headers.get("location")]).toEqual([302, "/settings/account"]);
      const sessionUser = await getSessionUser(user);
      expect(sessionUser).toMatchObject({ email: account.email, emailVerified: true });
      const members = await user.get(`/organization/get-full-organization?organizationId=${bootstrapped!.org_id}`);
      expect(members.body["members"]).toMatchObject([{ role: "owner", userId: sessionUser!["id"] }]);
      const otherBrowser = new TestUser(publicUrl);
      await signIn(otherBrowser, name, { ...account, email: "another@example.com" });
      expect((await getSessionUser(otherBrowser))!["id"]).toBe(sessionUser!["id"]);
      expect(await countRows(harness)).toEqual({ users: 1, accounts: 1 });
      const { events } = await rpcClient(publicUrl, await user.accessToken()).audit.list.query({});
      expect(events.filter(({ action }) => action.startsWith("callback/"))).toHaveLength(2);
      const stored = JSON.stringify([
        await harness.service.parts.orm.em.fork().execute(`select * from auth.account`),
        events,
      ]);
      for (const secret of providers.secrets)
        expect([stored.includes(secret), harness.logged().includes(secret)]).toEqual([false, false]);
    },
  );

test("a callback is accepted only once, in the browser that started the sign-in, with its own code and state", async () => {
  const { publicUrl } = openHarness().service;
  const before = await countRows(openHarness());
  const [victim, attacker] = [new TestUser(publicUrl), new TestUser(publicUrl)];
  const redirect = providers.consent(await startSignIn(attacker, "github"), createProviderUser());
  // Login CSRF: the attacker's callback in the browser of the victim would sign the victim in as the attacker.
  expect(readSignInError(await follow(victim, redirect))).toBe("state_mismatch");
  const wrongState = new URL(redirect);
  wrongState.searchParams.set("state", "x".repeat(32));
  const noState = new URL(redirect);
  noState.searchParams.delete("state");
  const responses = [await follow(victim, wrongState), await follow(victim, noState)];
  expect(responses.map(readSignInError)).toEqual(["state_mismatch", "state_not_found"]);
  // The code of another request does not match the PKCE verifier of this browser.
  const own = providers.consent(await startSignIn(victim, "github"), createProviderUser());
  const foreign = providers.consent(await startSignIn(attacker, "github"), createProviderUser());
  own.searchParams.set("code", foreign.searchParams.get("code")!);
  expect(readSignInError(await follow(victim, own))).toBe("invalid_code");
  expect([await getSessionUser(victim), await countRows(openHarness())]).toEqual([undefined, before]);
  const valid = providers.consent(await startSignIn(victim, "github"), createProviderUser());
  expect((await follow(victim, valid)).headers.get("location")).toBe("/settings/account");
  expect((await follow(new TestUser(publicUrl), valid)).headers.get("location")).toMatch(/error=state_mismatch$/);
});

test("a sign-in never redirects to another site, and the error page never shows text from its URL", async () => {
  const user = new TestUser(openHarness().service.publicUrl);
  for (const field of ["callbackURL", "errorCallbackURL", "newUserCallbackURL"])
    for (const url of ["https://elsewhere.example.com/", "//elsewhere.example.com", "javascript:alert(1)"]) {
      const response = await user.post("/sign-in/social", { provider: "github", callbackURL: "/", [field]: url });
      expect([field, url, response.status]).toEqual([field, url, 403]);
    }
  for (const error of ["Call us", "https://elsewhere.example.com", "a&error=b", "", "x".repeat(65)]) {
    const query = new URLSearchParams({ error, error_description: "Call us" });
    const page = await user.visit(`/api/auth/error?${query.toString()}`);
    expect([page.status, page.text.includes("Call us"), page.text.includes("elsewhere")]).toEqual([400, false, false]);
    expect(page.text).toContain("<code>invalid_request</code>");
  }
});

test.for(PROVIDERS)(
  "an email address at %s, verified or not, gives no access to an existing account with that address",
  async (name) => {
    const { publicUrl } = openHarness().service;
    const owner = new TestUser(publicUrl);
    await owner.signUp();
    const other = createProviderUser();
    await signIn(new TestUser(publicUrl), name === "github" ? "google" : "github", other);
    const before = await countRows(openHarness());
    for (const email of [owner.email, owner.email.toUpperCase(), other.email!])
      for (const verified of [true, false]) {
        const impostor = new TestUser(publicUrl);
        const response = await signIn(impostor, name, createProviderUser({ email, verified }));
        expect(readSignInError(response)).toBe("account_not_linked");
        expect(await getSessionUser(impostor)).toBeUndefined();
      }
    // A signed-in user cannot link another account either.
    const linking = await owner.post("/link-social", {
      provider: name,
      callbackURL: "/",
      errorCallbackURL: "/sign-in",
    });
    const redirect = providers.consent(String(linking.body["url"]), createProviderUser({ email: owner.email }));
    expect(readSignInError(await follow(owner, redirect))).toBe("unable_to_link_account");
    expect(await countRows(openHarness())).toEqual(before);
  },
);

test("with SIGN_UP=invite, only an invited and verified email address can sign up through a provider", async () => {
  await using harness = await createSocialHarness("invite");
  const { publicUrl, bootstrapped } = harness.service;
  const owner = new TestUser(publicUrl);
  await owner.signUp();
  const invited = createProviderUser();
  const invitation = await owner.post("/organization/invite-member", {
    email: invited.email,
    role: "member",
    organizationId: bootstrapped!.org_id,
  });
  const invitationId = String(invitation.body["id"]);
  const uninvited = [
    createProviderUser(),
    { ...invited, verified: false },
    createProviderUser({ email: "x@oidc.invalid" }),
  ];
  for (const account of uninvited)
    for (const provider of PROVIDERS)
      expect(readSignInError(await signIn(new TestUser(publicUrl), provider, account))).toBe("SIGN_UP_REFUSED");
  expect(await countRows(harness)).toEqual({ users: 1, accounts: 1 });
  const user = new TestUser(publicUrl);
  expect((await signIn(user, "google", invited)).headers.get("location")).toBe("/settings/account");
  expect((await user.post("/organization/accept-invitation", { invitationId })).status).toBe(200);
});

test("with SIGN_UP=closed, only one of several simultaneous first users can sign up through a provider", async () => {
  await using harness = await createSocialHarness("closed");
  const { publicUrl } = harness.service;
  const users = Array.from({ length: 3 }, () => new TestUser(publicUrl));
  const responses = await Promise.all(users.map((user, at) => signIn(user, PROVIDERS[at % 2]!, createProviderUser())));
  const locations = responses.map(({ headers }) => headers.get("location")!.split("&")[0]).toSorted();
  expect(locations).toEqual(["/settings/account", ...Array<string>(2).fill("/sign-in?error=SIGN_UP_REFUSED")]);
  expect(await countRows(harness)).toEqual({ users: 1, accounts: 1 });
});

test.for(PROVIDERS)("a failure at %s shows an error on the sign-in page, and no secret is logged", async (name) => {
  const before = await countRows(openHarness());
  const user = new TestUser(openHarness().service.publicUrl);
  const consent = async () => providers.consent(await startSignIn(user, name), createProviderUser());
  for (const failure of ["token", "connection to token"] as const)
    expect(readSignInError(await followWithFailure(failure, user, await consent()))).toBe("invalid_code");
  const declined = await follow(user, providers.decline(await startSignIn(user, name)));
  expect(readSignInError(declined)).toBe("access_denied");
  expect(readSignInError(await signIn(user, name, createProviderUser({ email: null })))).toBe("email_not_found");
  expect([await getSessionUser(user), await countRows(openHarness())]).toEqual([undefined, before]);
  for (const secret of providers.secrets) expect(openHarness().logged()).not.toContain(secret);
});

test("a failure of the provider's user endpoint shows an error on the sign-in page", async () => {
  const user = new TestUser(openHarness().service.publicUrl);
  const consent = async () => providers.consent(await startSignIn(user, "github"), createProviderUser());
  expect(readSignInError(await followWithFailure("user", user, await consent()))).toBe("unable_to_get_user_info");
  expect(readSignInError(await followWithFailure("connection to user", user, await consent()))).toBe("sign_in_failed");
});

test("a user whom an OAuth client sent to sign in reaches the consent page after signing in with a provider", async () => {
  await using harness = await createSocialHarness("invite");
  const { publicUrl } = harness.service;
  const user = new TestUser(publicUrl);
  const oauth = new OAuthRequests(publicUrl, user);
  const query = {
    resource: `${publicUrl}/mcp`,
    scope: "read",
    code_challenge: "x".repeat(43),
    code_challenge_method: "S256",
  };
  const url = oauth.authorizeUrl(await oauth.register(), query);
  const authorization = await user.send("GET", url.pathname + url.search);
  const page = new URL(authorization.headers.get("location") ?? String(authorization.body["url"]), publicUrl);
  expect(page.pathname).toBe("/sign-in");
  const extraFields = { oauth_query: page.search.slice(1), errorCallbackURL: page.pathname + page.search };
  const declined = await follow(user, providers.decline(await startSignIn(user, "github", extraFields)));
  // After a failure, the page still has the request of the OAuth client, for another attempt.
  const [pageWithRequest, error] = String(declined.headers.get("location")).split(/&(?=error=)/);
  expect([pageWithRequest, error]).toEqual([
    page.pathname + page.search,
    expect.stringMatching(/^error=access_denied&/),
  ]);
  const secondAttempt = await startSignIn(user, "github", extraFields);
  const signedIn = await follow(user, providers.consent(secondAttempt, createProviderUser()));
  expect(new URL(signedIn.headers.get("location")!, publicUrl).pathname).toBe("/consent");
  expect((await authorizeWithConsent(user, url)).get("code")).toEqual(expect.any(String));
});
