import { expect, test } from "vitest";
import { explainAuthorizationError, stopErrorRedirect } from "../../server/identity/authorization-error.ts";
import { renderAuthorizationError } from "../../server/identity/authorization-error-page.ts";

const ORIGIN = "https://service.example.com";

test.each([
  ["invalid_client", "Unknown client", "not known here any more", "Remove the connection in the client, then connect"],
  ["client_disabled", "Client disabled", "operator of this service has disabled", "Ask the operator"],
  ["invalid_redirect", "Unknown return address", "has not registered", "close this page"],
  ["temporarily_unavailable", "Try again later", "cannot continue at the moment", "Wait, then start again"],
  ["server_error", "Something went wrong", "could not handle this request", "tell the operator of this service"],
  ["invalid_scope", "Request not accepted", "does not accept", "Start again in the client. If it happens again"],
  ["constructor", "Request not accepted", "does not accept", "update the client"],
])("the error %s has a title, a message and advice", (code, title, message, advice) => {
  expect(explainAuthorizationError(400, { error: code })).toEqual({
    code,
    title,
    message: expect.stringContaining(message),
    advice: expect.stringContaining(advice),
  });
});

test.each([
  [400, "invalid_request"],
  [404, "invalid_request"],
  [429, "temporarily_unavailable"],
  [500, "server_error"],
  [502, "server_error"],
  [503, "temporarily_unavailable"],
])("a response with the status %i and without a valid code has the code %s", (status, code) => {
  const bodies = [null, "text", {}, { error: 7 }, { error: "" }, { error: "with a space" }, { error: "x".repeat(65) }];
  for (const body of bodies) expect([body, explainAuthorizationError(status, body).code]).toEqual([body, code]);
  expect(explainAuthorizationError(status, { error: "x".repeat(64) }).code).toBe("x".repeat(64));
});

test("a description that the service wrote for a code replaces the message, with advice for the maker or to wait", () => {
  expect(explainAuthorizationError(400, { error: "invalid_client", error_description: "No name." })).toEqual({
    code: "invalid_client",
    title: "Client not accepted",
    message: "No name.",
    advice: "Report this to the maker of the client, or use another client.",
  });
  expect(explainAuthorizationError(429, { error: "temporarily_unavailable", error_description: "Too many." })).toEqual({
    code: "temporarily_unavailable",
    title: "Try again later",
    message: "Too many.",
    advice: "Wait, then start again in the client.",
  });
});

test("a description for scripts is not shown twice, and one that is not text is ignored", () => {
  const explained = explainAuthorizationError(400, { error: "invalid_client" });
  for (const description of [`${explained.message} ${explained.advice}`, 7, undefined])
    expect(explainAuthorizationError(400, { error: "invalid_client", error_description: description })).toEqual(
      explained,
    );
});

const redirect = (location: string, status = 302) => new Response(null, { status, headers: { location } });

test.each([
  `${ORIGIN}/api/auth/error?error=invalid_client`,
  "/api/auth/error?error=invalid_client",
  "cursor://callback?error=invalid_client",
])("a redirect of an error to %s becomes a 400 response", async (location) => {
  const response = await stopErrorRedirect(redirect(location), ORIGIN);
  expect([response.status, response.headers.get("cache-control")]).toEqual([400, "no-store"]);
  expect(await response.json()).toEqual({
    error: "invalid_client",
    error_description: expect.stringMatching(/^This client is not known here any more\. Remove the connection/),
  });
});

test.each([
  "https://client.example.com/callback?error=invalid_scope",
  "http://127.0.0.1:7/callback?error=invalid_scope",
  `${ORIGIN}/sign-in`,
  "https://elsewhere.example.com/api/auth/error",
])("a redirect to %s is left alone", async (location) => {
  const response = redirect(location);
  expect(await stopErrorRedirect(response, ORIGIN)).toBe(response);
});

test("a redirect in the body of a response to a script becomes a 400 response too, and keeps a readable body otherwise", async () => {
  const stopped = await stopErrorRedirect(Response.json({ url: "cursor://callback?error=access_denied" }), ORIGIN);
  expect([stopped.status, await stopped.json()]).toEqual([400, expect.objectContaining({ error: "access_denied" })]);
  for (const body of [{ url: "https://client.example.com/callback" }, { url: 7 }, { other: true }, [], null]) {
    const response = Response.json(body);
    expect(await stopErrorRedirect(response, ORIGIN)).toBe(response);
    expect(await response.json()).toEqual(body);
  }
});

test("an error response without a redirect is left alone, also when its body is not JSON", async () => {
  for (const response of [new Response("text", { status: 500 }), Response.json({ url: "cursor://x" }, { status: 400 })])
    expect(await stopErrorRedirect(response, ORIGIN)).toBe(response);
});

test("a page has the explanation and the code, and escapes every character with a meaning in HTML", () => {
  const page = renderAuthorizationError({ code: "a&b", title: "<T>", message: `"m"`, advice: "it's" });
  expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
  expect(page).toContain("<title>&lt;T&gt;</title>");
  expect(page).toContain("<h1>&lt;T&gt;</h1>\n<p>&quot;m&quot;</p>\n<p>it&#39;s</p>");
  expect(page).toContain("Error code: <code>a&amp;b</code>");
});
