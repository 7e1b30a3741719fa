import net from "node:net";
import { expect, test, vi } from "vitest";
import { createHarness } from "../support/service/harness.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness({ config: { signUp: "open" } });

const ELSEWHERE = "https://elsewhere.example.com";

test("cookies are for the service alone: not for scripts, other sites or, under https, other hosts and plain HTTP", async () => {
  const plain = await new TestUser(service().service.publicUrl).signUp();
  for (const cookie of plain.headers.getSetCookie())
    expect(cookie).toMatch(/^service\.\w+=.*; Path=\/; HttpOnly; SameSite=Lax$/);
  const publicUrl = "https://apps.example.com";
  await using harness = await createHarness({ config: { publicUrl } });
  const person = new TestUser(`http://127.0.0.1:${harness.service.port}`, undefined, undefined, publicUrl);
  const cookies = (await person.signUp()).headers.getSetCookie();
  expect(cookies).toHaveLength(1);
  for (const cookie of cookies) {
    expect(cookie).toMatch(/^__Host-service\.\w+=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    expect(cookie).not.toMatch(/domain=/i);
  }
  expect((await person.get("/get-session")).body).toHaveProperty("user");
});

test("signing in makes a new session, whatever cookie the browser had before", async () => {
  const { publicUrl } = service().service;
  const attacker = new TestUser(publicUrl);
  const planted = sessionOf((await attacker.signUp()).headers);
  const victim = new TestUser(publicUrl);
  await victim.signUp();
  const body = JSON.stringify({ email: victim.email, password: victim.password });
  const headers = { cookie: planted, origin: publicUrl, "content-type": "application/json" };
  const signedIn = await attacker.send("POST", "/api/auth/sign-in/email", { body, headers });
  expect([signedIn.status, sessionOf(signedIn.headers) === planted]).toEqual([200, false]);
  const { user } = (await attacker.send("GET", "/api/auth/get-session", { headers: { cookie: planted } })).body;
  expect(user).toMatchObject({ email: attacker.email });
});

test("a form or a page of another site signs nobody in or out and consents to nothing", async () => {
  const { publicUrl } = service().service;
  const person = new TestUser(publicUrl);
  const cookie = sessionOf((await person.signUp()).headers);
  const fields = { email: person.email, password: person.password, name: "x", slug: "x", accept: "true" };
  const forms = {
    "text/plain": JSON.stringify(fields),
    "application/x-www-form-urlencoded": new URLSearchParams(fields).toString(),
    "multipart/form-data; boundary=x": `--x\r\ncontent-disposition: form-data; name="email"\r\n\r\n${person.email}\r\n--x--\r\n`,
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
    { origin: ELSEWHERE },
    { origin: "null" },
    { origin: `${publicUrl}.example.com` },
    {},
  ];
  for (const [contentType, body] of Object.entries(forms))
    for (const path of paths)
      for (const origin of origins) {
        const headers = { "content-type": contentType, cookie, ...origin };
        const answer = await person.send("POST", `/api/auth/${path}`, { body, headers });
        expect([contentType, path, origin, [403, 415].includes(answer.status)]).toEqual([
          contentType,
          path,
          origin,
          true,
        ]);
        expect(answer.headers.getSetCookie()).toEqual([]);
      }
  expect((await person.get("/get-session")).body).toHaveProperty("user");
});

test("nothing leads from the service to another site", async () => {
  const person = new TestUser(service().service.publicUrl);
  await person.signUp();
  const elsewhere = [ELSEWHERE, "//elsewhere.example.com", "/\\elsewhere.example.com", "javascript:alert(1)"];
  const credentials = { email: person.email, password: person.password };
  for (const callbackURL of [...elsewhere, `${service().service.publicUrl}@elsewhere.example.com`]) {
    expect([callbackURL, (await person.post("/sign-in/email", { ...credentials, callbackURL })).status]).toEqual([
      callbackURL,
      403,
    ]);
    for (const path of ["/verify-email?token=x", "/reset-password/x?a", "/oauth2/end-session?x"]) {
      const answer = await person.get(
        `${path}&callbackURL=${encodeURIComponent(callbackURL)}&post_logout_redirect_uri=${encodeURIComponent(callbackURL)}`,
      );
      expect([path, callbackURL, answer.headers.get("location") ?? ""]).toEqual([
        path,
        callbackURL,
        expect.not.stringContaining("elsewhere"),
      ]);
    }
  }
  const page = await person.get("/error?error=%3Cscript%3Ealert(1)%3C/script%3E&error_description=%3Cimg%20src=x%3E");
  expect(page.text).not.toMatch(/<script>alert|<img src=x/);
});

test("the host that a request names is nowhere in an answer, and nothing that a session answers is kept by caches", async () => {
  const { port, publicUrl } = service().service;
  for (const path of ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"]) {
    const answer = await raw(
      port,
      `GET http://elsewhere.example.com${path} HTTP/1.1\r\nHost: elsewhere.example.com\r\n`,
    );
    expect([path, answer.slice(0, 12), answer.includes("elsewhere")]).toEqual([path, "HTTP/1.1 200", false]);
    expect(answer).toContain(publicUrl);
  }
  const person = new TestUser(publicUrl);
  const answers = [
    await person.signUp(),
    await person.get("/token"),
    await person.get("/get-session"),
    await person.get("/list-sessions"),
  ];
  for (const { headers } of answers) expect(headers.get("cache-control")).toContain("no-store");
});

test("no answer may be read by a page of another site, the discovery documents included", async () => {
  const { publicUrl } = service().service;
  const paths = [
    ...["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp", "/mcp", "/v1/apps"],
    ...[
      "/api/auth/get-session",
      "/api/auth/jwks",
      "/api/auth/oauth2/token",
      "/api/auth/oauth2/register",
      "/trpc/apps.list",
    ],
  ];
  for (const path of paths)
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const headers = { origin: ELSEWHERE, "access-control-request-method": "POST" };
      const answer = await fetch(publicUrl + path, { method, headers });
      expect([path, method, answer.headers.get("access-control-allow-origin")]).toEqual([path, method, null]);
    }
});

test("who asks for a page that is not there sees the dashboard's, and a program is answered as ever", async () => {
  const { publicUrl } = service().service;
  const ask = async (path: string, accept: string, method = "GET") => {
    const answer = await fetch(publicUrl + path, { method, headers: { accept } });
    return [answer.status, answer.headers.get("content-type")?.split(";")[0], (await answer.text()).slice(0, 15)];
  };
  const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const page = [404, "text/html", "<!doctype html>"];
  const json = [404, "application/json", expect.stringMatching(/^\{"error":/)];
  for (const path of ["/nowhere", "/apps/one?x=1", "/v1x", "/%2e%2e/etc"])
    expect([path, await ask(path, browser)]).toEqual([path, page]);
  for (const path of ["/v1/nowhere", "/v1?x", "/api/nowhere", "/trpc/", "/.well-known/nowhere", "/assets/nowhere.js"])
    expect([path, (await ask(path, browser))[1]]).not.toEqual([path, "text/html"]);
  for (const accept of ["*/*", "application/json"]) expect(await ask("/nowhere", accept)).toEqual(json);
  expect(await ask("/nowhere", browser, "POST")).toEqual(json);
  const { headers } = await fetch(`${publicUrl}/nowhere`, { headers: { accept: browser } });
  expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
});

test("whoever may not sign up does not learn who has", async () => {
  for (const signUp of ["invite", "closed"] as const) {
    await using harness = await createHarness({ config: { signUp } });
    const owner = new TestUser(harness.service.publicUrl);
    await owner.signUp();
    const [known, unknown] = [
      new TestUser(harness.service.publicUrl, owner.email),
      new TestUser(harness.service.publicUrl),
    ];
    const [taken, free] = [await known.signUp(), await unknown.signUp()];
    expect([taken.status, taken.text]).toEqual([403, free.text]);
    const [wrong, nobody] = [await known.signIn("wrong password"), await unknown.signIn("wrong password")];
    expect([wrong.status, wrong.text]).toEqual([nobody.status, nobody.text]);
  }
});

function sessionOf(headers: Headers): string {
  return (
    headers
      .getSetCookie()
      .find((line) => line.includes("session_token"))
      ?.split(";", 1)[0] ?? ""
  );
}

/** Sends a request as it stands, which `fetch` would not. */
function raw(port: number, head: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = net.connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => (answer += String(chunk))).on("close", () => resolve(answer));
  socket.write(`${head}Connection: close\r\n\r\n`);
  return promise;
}

test("a fault is told as one, and nothing of it but in the log", async () => {
  const { parts, publicUrl } = service().service;
  const person = new TestUser(publicUrl);
  await person.signUp();
  const printed = vi.spyOn(console, "error");
  const em = parts.orm.em.fork();
  await em.execute(`alter table auth.session rename to out_of_reach`);
  try {
    const { status, body } = await person.signIn();
    expect([status, body]).toEqual([500, { message: "The service failed to answer. Try again." }]);
  } finally {
    await em.execute(`alter table auth.out_of_reach rename to session`);
  }
  expect(service().logged()).toContain("the identity provider failed");
  expect(printed).not.toHaveBeenCalled();
});
