import net from "node:net";
import { expect, test, vi } from "vitest";
import { INTERNAL_ERROR } from "../../domain/shared/errors.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createHarness } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness({ config: { signUp: "open" } });

const OTHER_SITE = "https://elsewhere.example.com";

test("cookies are HttpOnly and SameSite=Lax, and with https also Secure and bound to the host", async () => {
  const signedUp = await new TestUser(service().service.publicUrl).signUp();
  expect(signedUp.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^service\.\w+=.*; Path=\/; HttpOnly; SameSite=Lax$/),
  ]);
  const publicUrl = "https://apps.example.com";
  await using harness = await createHarness({ config: { publicUrl } });
  const user = new TestUser(`http://127.0.0.1:${harness.service.port}`, undefined, undefined, publicUrl);
  const cookies = (await user.signUp()).headers.getSetCookie();
  expect(cookies).toHaveLength(1);
  for (const cookie of cookies) {
    expect(cookie).toMatch(/^__Host-service\.\w+=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    expect(cookie).not.toMatch(/domain=/i);
  }
  expect((await user.get("/get-session")).body).toHaveProperty("user");
});

test("a sign-in creates a new session and ignores a session cookie that was planted before", async () => {
  const { publicUrl } = service().service;
  const attacker = new TestUser(publicUrl);
  const plantedCookie = readSessionCookie((await attacker.signUp()).headers);
  const victim = new TestUser(publicUrl);
  await victim.signUp();
  const body = JSON.stringify({ email: victim.email, password: victim.password });
  const headers = { cookie: plantedCookie, origin: publicUrl, "content-type": "application/json" };
  const signedIn = await attacker.send("POST", "/api/auth/sign-in/email", { body, headers });
  expect([signedIn.status, readSessionCookie(signedIn.headers) === plantedCookie]).toEqual([200, false]);
  const session = await attacker.send("GET", "/api/auth/get-session", { headers: { cookie: plantedCookie } });
  expect(session.body["user"]).toMatchObject({ email: attacker.email });
});

test("403 or 415 rejects a cross-site form to sign in, sign out, consent or approve a device, in every encoding", async () => {
  const { publicUrl } = service().service;
  const user = new TestUser(publicUrl);
  const cookie = readSessionCookie((await user.signUp()).headers);
  const fields = { email: user.email, password: user.password, name: "x", slug: "x", accept: "true" };
  const bodyByContentType = {
    "text/plain": JSON.stringify(fields),
    "application/x-www-form-urlencoded": new URLSearchParams(fields).toString(),
    "multipart/form-data; boundary=x": `--x\r\ncontent-disposition: form-data; name="email"\r\n\r\n${user.email}\r\n--x--\r\n`,
    "application/json": JSON.stringify(fields),
  };
  const paths = [
    "sign-in/email",
    "sign-up/email",
    "sign-out",
    "organization/create",
    "oauth2/consent",
    "device/approve",
  ];
  const origins: Record<string, string>[] = [
    { origin: OTHER_SITE },
    { origin: "null" },
    { origin: `${publicUrl}.example.com` },
    {},
  ];
  // A body that the endpoint can read is rejected for its origin, any other for its type.
  const isReadable = (contentType: string, path: string) =>
    contentType === "application/json" ||
    (contentType === "application/x-www-form-urlencoded" && /^sign-(in|up)\//.test(path));
  for (const [contentType, body] of Object.entries(bodyByContentType))
    for (const path of paths)
      for (const origin of origins) {
        const headers = { "content-type": contentType, cookie, ...origin };
        const response = await user.send("POST", `/api/auth/${path}`, { body, headers });
        const status = isReadable(contentType, path) ? 403 : 415;
        expect([contentType, path, origin, response.status]).toEqual([contentType, path, origin, status]);
        expect(response.headers.getSetCookie()).toEqual([]);
      }
  expect((await user.get("/get-session")).body).toHaveProperty("user");
});

test("403 rejects a request with the cookies of a user from another origin, and /trpc ignores cookies", async () => {
  const { publicUrl } = service().service;
  const user = new TestUser(publicUrl);
  await user.signUp();
  const headers = { origin: OTHER_SITE };
  for (const path of ["/sign-out", "/organization/create", "/change-password", "/device/approve"])
    expect([path, (await user.post(path, { name: "x", slug: "x" }, headers)).status]).toEqual([path, 403]);
  expect((await user.get("/get-session")).body).toHaveProperty("user");
  expect((await user.send("GET", "/trpc/apps.list")).status).toBe(401);
});

test("no response of the identity provider redirects to another site or contains a script from its URL", async () => {
  const { publicUrl } = service().service;
  const user = new TestUser(publicUrl);
  await user.signUp();
  const otherUrls = [
    OTHER_SITE,
    "//elsewhere.example.com",
    "/\\elsewhere.example.com",
    "javascript:alert(1)",
    `${publicUrl}@elsewhere.example.com`,
  ];
  const credentials = { email: user.email, password: user.password };
  for (const callbackURL of otherUrls) {
    const signIn = await user.post("/sign-in/email", { ...credentials, callbackURL });
    expect([callbackURL, signIn.status]).toEqual([callbackURL, 403]);
    const parameter = encodeURIComponent(callbackURL);
    for (const path of ["/verify-email?token=x", "/reset-password/x?a", "/oauth2/end-session?x"]) {
      const response = await user.get(`${path}&callbackURL=${parameter}&post_logout_redirect_uri=${parameter}`);
      const location = response.headers.get("location") ?? "";
      expect([path, callbackURL, location]).toEqual([path, callbackURL, expect.not.stringContaining("elsewhere")]);
    }
  }
  const page = await user.get("/error?error=%3Cscript%3Ealert(1)%3C/script%3E&error_description=%3Cimg%20src=x%3E");
  expect(page.text).not.toMatch(/<script>alert|<img src=x/);
});

test("responses never contain the Host of the request, and responses with session data are not cached", async () => {
  const { port, publicUrl } = service().service;
  for (const path of ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"]) {
    const head = `GET http://elsewhere.example.com${path} HTTP/1.1\r\nHost: elsewhere.example.com\r\n`;
    const response = await sendRaw(port, head);
    expect([path, response.slice(0, 12), response.includes("elsewhere")]).toEqual([path, "HTTP/1.1 200", false]);
    expect(response).toContain(publicUrl);
  }
  const user = new TestUser(publicUrl);
  const responses = [
    await user.signUp(),
    await user.get("/token"),
    await user.get("/get-session"),
    await user.get("/list-sessions"),
  ];
  for (const { headers } of responses) expect(headers.get("cache-control")).toContain("no-store");
});

test("no response except the OAuth metadata has a CORS header", async () => {
  const { publicUrl } = service().service;
  const paths = [
    "/mcp",
    "/v1/apps",
    "/api/auth/get-session",
    "/api/auth/jwks",
    "/api/auth/oauth2/token",
    "/api/auth/oauth2/register",
    "/trpc/apps.list",
  ];
  for (const path of paths)
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const headers = { origin: OTHER_SITE, "access-control-request-method": "POST" };
      const response = await fetch(publicUrl + path, { method, headers });
      expect([path, method, response.headers.get("access-control-allow-origin")]).toEqual([path, method, null]);
    }
});

test("500 reports an internal error without details, and only the log contains them", async () => {
  const { parts, publicUrl } = service().service;
  const user = new TestUser(publicUrl);
  await user.signUp();
  const consoleError = vi.spyOn(console, "error");
  const em = parts.orm.em.fork();
  await em.execute(`alter table auth.session rename to out_of_reach`);
  try {
    const { status, body } = await user.signIn();
    expect([status, body]).toEqual([500, { message: INTERNAL_ERROR }]);
  } finally {
    await em.execute(`alter table auth.out_of_reach rename to session`);
  }
  expect(service().logged()).toContain("the identity provider failed");
  expect(consoleError).not.toHaveBeenCalled();
});

function readSessionCookie(headers: Headers): string {
  const line = headers.getSetCookie().find((cookie) => cookie.includes("session_token"));
  return line?.split(";", 1)[0] ?? "";
}

/** Sends a request head unchanged. `fetch` would normalize it. */
function sendRaw(port: number, head: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = net.connect(port, "127.0.0.1");
  let response = "";
  socket.on("data", (chunk) => (response += String(chunk))).on("close", () => resolve(response));
  socket.write(`${head}Connection: close\r\n\r\n`);
  return promise;
}
