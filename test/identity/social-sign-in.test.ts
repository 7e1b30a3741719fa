import { randomInt, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { consented } from "../support/identity/test-oauth-client.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { Person } from "../support/identity/test-user.ts";
import type { Answer } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import {
  CLIENTS,
  type ProviderName,
  type Somebody,
  type SocialProviders,
  startSocialProviders,
} from "../support/identity/social-providers.ts";

const PROVIDERS = ["github", "google"] as const;

let providers: SocialProviders;
beforeAll(async () => {
  providers = await startSocialProviders();
});
afterAll(() => providers[Symbol.asyncDispose]());

const harnessWith = (signUp: "invite" | "closed"): Promise<Harness> =>
  createHarness({ config: { signUp, social: CLIENTS } });
const open = sharedHarness({ config: { signUp: "open", social: CLIENTS } });

const somebody = (more: Partial<Somebody> = {}): Somebody => ({
  ...{ subject: String(randomInt(2 ** 40)), email: `${randomUUID()}@example.com`, verified: true, ...more },
});

/** Where a provider is to be asked, as the pages of the service would send somebody there. */
async function begin(browser: Person, provider: ProviderName, more: object = {}): Promise<string> {
  const ways = { callbackURL: "/settings/account", errorCallbackURL: "/sign-in" };
  return String((await browser.post("/sign-in/social", { provider, ...ways, ...more })).body["url"]);
}

const comeBack = (browser: Person, back: URL): Promise<Answer> => browser.visit(back.pathname + back.search);

async function signIn(browser: Person, provider: ProviderName, who: Somebody): Promise<Answer> {
  return comeBack(browser, providers.agree(await begin(browser, provider), who));
}

/** Who is signed in at a browser. */
async function personAt(browser: Person): Promise<Record<string, unknown> | undefined> {
  return (await browser.get("/get-session")).body["user"] as Record<string, unknown> | undefined;
}

/** Somebody comes back, and the service cannot ask the provider about them. */
async function failing(fault: SocialProviders["fault"], browser: Person, back: URL): Promise<Answer> {
  providers.fault = fault;
  try {
    return await comeBack(browser, back);
  } finally {
    providers.fault = "none";
  }
}

/** The error that a browser is shown on the sign-in page. */
function shown({ status, headers }: Answer): string | null {
  const to = new URL(headers.get("location") ?? "", "http://service");
  expect([status, to.pathname]).toEqual([302, "/sign-in"]);
  return to.searchParams.get("error");
}

/** How many people there are, and ways to sign in. */
async function counted({ service }: Harness): Promise<unknown> {
  const counts = [
    `(select count(*) from auth."user")::int as people`,
    `(select count(*) from auth.account)::int as accounts`,
  ];
  return (await service.parts.orm.em.fork().execute<unknown[]>(`select ${counts.join()}`))[0];
}

test.for(PROVIDERS)(
  "the first person to come from %s owns the installation, and comes back as the same person",
  async (name) => {
    await using harness = await harnessWith("invite");
    const { publicUrl, bootstrapped } = harness.service;
    const ada = somebody();
    const browser = new Person(publicUrl);
    const signedUp = await signIn(browser, name, ada);
    expect([signedUp.status, signedUp.headers.get("location")]).toEqual([302, "/settings/account"]);
    const person = await personAt(browser);
    expect(person).toMatchObject({ email: ada.email, emailVerified: true });
    const members = await browser.get(`/organization/get-full-organization?organizationId=${bootstrapped!.org_id}`);
    expect(members.body["members"]).toMatchObject([{ role: "owner", userId: person!["id"] }]);
    const elsewhere = new Person(publicUrl);
    await signIn(elsewhere, name, { ...ada, email: "another@example.com" });
    expect((await personAt(elsewhere))!["id"]).toBe(person!["id"]);
    expect(await counted(harness)).toEqual({ people: 1, accounts: 1 });
    const { events } = await rpcClient(publicUrl, await browser.accessToken()).audit.list.query({});
    expect(events.filter(({ action }) => action.startsWith("callback/"))).toHaveLength(2);
    const kept = JSON.stringify([
      await harness.service.parts.orm.em.fork().execute(`select * from auth.account`),
      events,
    ]);
    for (const secret of providers.secrets)
      expect([kept.includes(secret), harness.logged().includes(secret)]).toEqual([false, false]);
  },
);

test("what comes back counts only where it was asked for, once, and as it was asked for", async () => {
  const { publicUrl } = open().service;
  const before = await counted(open());
  const [victim, attacker] = [new Person(publicUrl), new Person(publicUrl)];
  const back = providers.agree(await begin(attacker, "github"), somebody());
  // The attacker's own code, slipped to somebody else: they would be signed in as the attacker.
  expect(shown(await comeBack(victim, back))).toBe("state_mismatch");
  const altered = new URL(back);
  altered.searchParams.set("state", "x".repeat(32));
  const forgotten = new URL(back);
  forgotten.searchParams.delete("state");
  const unknown = [await comeBack(victim, altered), await comeBack(victim, forgotten)];
  const to = unknown.map(({ headers }) => new URL(headers.get("location")!, publicUrl));
  expect(await Promise.all(to.map(async (url) => shown(await comeBack(victim, url))))).toEqual([
    ...["state_mismatch", "state_not_found"],
  ]);
  // Another request's code: the verifier that goes with it is not this browser's.
  const own = providers.agree(await begin(victim, "github"), somebody());
  own.searchParams.set("code", providers.agree(await begin(attacker, "github"), somebody()).searchParams.get("code")!);
  expect(shown(await comeBack(victim, own))).toBe("invalid_code");
  expect([await personAt(victim), await counted(open())]).toEqual([undefined, before]);
  const good = providers.agree(await begin(victim, "github"), somebody());
  expect((await comeBack(victim, good)).headers.get("location")).toBe("/settings/account");
  expect((await comeBack(new Person(publicUrl), good)).headers.get("location")).toMatch(/error=state_mismatch$/);
});

test("nobody is sent to another site afterwards, or shown what somebody else wrote", async () => {
  const browser = new Person(open().service.publicUrl);
  for (const field of ["callbackURL", "errorCallbackURL", "newUserCallbackURL"])
    for (const url of ["https://elsewhere.example.com/", "//elsewhere.example.com", "javascript:alert(1)"]) {
      const answer = await browser.post("/sign-in/social", { provider: "github", callbackURL: "/", [field]: url });
      expect([field, url, answer.status]).toEqual([field, url, 403]);
    }
  for (const error of ["Call us", "https://elsewhere.example.com", "a&error=b", "", "x".repeat(65)])
    expect(shown(await browser.visit(`/api/auth/error?error=${encodeURIComponent(error)}`))).toBe("sign_in_failed");
});

test.for(PROVIDERS)("an address at %s, verified or not, opens nobody's account", async (name) => {
  const { publicUrl } = open().service;
  const owner = new Person(publicUrl);
  await owner.signUp();
  const other = somebody();
  await signIn(new Person(publicUrl), name === "github" ? "google" : "github", other);
  const before = await counted(open());
  for (const email of [owner.email, owner.email.toUpperCase(), other.email!])
    for (const verified of [true, false]) {
      const impostor = new Person(publicUrl);
      expect(shown(await signIn(impostor, name, somebody({ email, verified })))).toBe("account_not_linked");
      expect(await personAt(impostor)).toBeUndefined();
    }
  // Nor does a person who is signed in take another account in.
  const linking = await owner.post("/link-social", { provider: name, callbackURL: "/", errorCallbackURL: "/sign-in" });
  const back = providers.agree(String(linking.body["url"]), somebody({ email: owner.email }));
  expect(shown(await comeBack(owner, back))).toBe("unable_to_link_account");
  expect(await counted(open())).toEqual(before);
});

test("SIGN_UP holds for who comes from a provider: a verified address that was invited, and nobody else", async () => {
  await using harness = await harnessWith("invite");
  const { publicUrl, bootstrapped } = harness.service;
  const owner = new Person(publicUrl);
  await owner.signUp();
  const guest = somebody();
  const invited = await owner.post("/organization/invite-member", {
    ...{ email: guest.email, role: "member", organizationId: bootstrapped!.org_id },
  });
  const invitationId = String(invited.body["id"]);
  for (const stranger of [somebody(), { ...guest, verified: false }, somebody({ email: "x@oidc.invalid" })])
    for (const provider of PROVIDERS)
      expect(shown(await signIn(new Person(publicUrl), provider, stranger))).toBe("SIGN_UP_REFUSED");
  expect(await counted(harness)).toEqual({ people: 1, accounts: 1 });
  const browser = new Person(publicUrl);
  expect((await signIn(browser, "google", guest)).headers.get("location")).toBe("/settings/account");
  expect((await browser.post("/organization/accept-invitation", { invitationId })).status).toBe(200);
});

test("where sign-up is closed only the first person comes in, of several at once too", async () => {
  await using harness = await harnessWith("closed");
  const { publicUrl } = harness.service;
  const browsers = Array.from({ length: 3 }, () => new Person(publicUrl));
  const answers = await Promise.all(browsers.map((browser, n) => signIn(browser, PROVIDERS[n % 2]!, somebody())));
  const to = answers.map(({ headers }) => headers.get("location")!.split("&")[0]).toSorted();
  expect(to).toEqual(["/settings/account", ...Array<string>(2).fill("/sign-in?error=SIGN_UP_REFUSED")]);
  expect(await counted(harness)).toEqual({ people: 1, accounts: 1 });
});

test.for(PROVIDERS)(
  "whatever fails at %s, the person is told on the sign-in page and nothing secret is logged",
  async (name) => {
    const before = await counted(open());
    const browser = new Person(open().service.publicUrl);
    const back = async () => providers.agree(await begin(browser, name), somebody());
    for (const fault of ["token", "line to token"] as const)
      expect(shown(await failing(fault, browser, await back()))).toBe("invalid_code");
    expect(shown(await comeBack(browser, providers.decline(await begin(browser, name))))).toBe("access_denied");
    expect(shown(await signIn(browser, name, somebody({ email: null })))).toBe("email_not_found");
    expect([await personAt(browser), await counted(open())]).toEqual([undefined, before]);
    for (const secret of providers.secrets) expect(open().logged()).not.toContain(secret);
  },
);

test("whoever the provider says nothing about is sent to the sign-in page too", async () => {
  const browser = new Person(open().service.publicUrl);
  const back = async () => providers.agree(await begin(browser, "github"), somebody());
  expect(shown(await failing("person", browser, await back()))).toBe("unable_to_get_user_info");
  expect(shown(await failing("line to person", browser, await back()))).toBe("sign_in_failed");
});

test("whoever an OAuth client sent to sign in goes on to agree to it, after the way over a provider", async () => {
  await using harness = await harnessWith("invite");
  const { publicUrl } = harness.service;
  const browser = new Person(publicUrl);
  const oauth = new OAuthRequests(publicUrl, browser);
  const query = {
    resource: `${publicUrl}/mcp`,
    scope: "read",
    code_challenge: "x".repeat(43),
    code_challenge_method: "S256",
  };
  const url = oauth.authorizeUrl(await oauth.register(), query);
  const asked = await browser.send("GET", url.pathname + url.search);
  const page = new URL(asked.headers.get("location") ?? String(asked.body["url"]), publicUrl);
  expect(page.pathname).toBe("/sign-in");
  const more = { oauth_query: page.search.slice(1), errorCallbackURL: page.pathname + page.search };
  const declined = await comeBack(browser, providers.decline(await begin(browser, "github", more)));
  // The request of the client is still there, for another try.
  const [again, error] = String(declined.headers.get("location")).split(/&(?=error=)/);
  expect([again, error]).toEqual([page.pathname + page.search, expect.stringMatching(/^error=access_denied&/)]);
  const authorization = await begin(browser, "github", more);
  const signedIn = await comeBack(browser, providers.agree(authorization, somebody()));
  expect(new URL(signedIn.headers.get("location")!, publicUrl).pathname).toBe("/consent");
  expect((await consented(browser, url)).get("code")).toEqual(expect.any(String));
});
