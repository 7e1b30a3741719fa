import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { AuthEntries, AuthEntry } from "../../../domain/ports/auth-entries.ts";
import { trustedPeers } from "../../../server/http/client-address.ts";
import { readClientInfo } from "../../../server/platforms/embedded/proxy/client-info.ts";
import { OpenRequests } from "../../../server/platforms/embedded/proxy/open-requests.ts";
import { isSharedCookie } from "../../../server/http/edge/forwarded-headers.ts";
import { readAppToken, verifyAppToken } from "../../../server/http/edge/verify-app-token.ts";
import { receivedMessage } from "../../support/edge/received-message.ts";

test.each([
  ["a=1", false],
  ["domain=apps.example", false],
  ["a=1; Path=/; Secure", false],
  ["a=1; Path=apps.example", false],
  ["a=1; Domain", false],
  ["a=1; Domain=", false],
  ["a=1; Domain=.", false],
  ["a=1; Domain=shop.apps.example", false],
  ["a=1; Domain=xapps.example", false],
  ["a=1; Domain=apps", false],
  ["a=1; Domain=apps.example", true],
  ["a=1; Domain=example", true],
  ["a=1;  DOMAIN = ..Apps.Example.. ; Secure", true],
  ["a=1; Domain=apps.example=x", true],
])("whether the cookie %s is shared: %s", (cookie, isShared) => {
  expect(isSharedCookie(cookie, "apps.example")).toBe(isShared);
});

test("a client address and a scheme are those of the peer, or of a trusted proxy", () => {
  const trusts = trustedPeers(["127.0.0.0/8"]);
  const read = (proto: string | null, trusted = trusts) => {
    const headers: [string, string][] = [["X-Forwarded-For", "198.51.100.1, 203.0.113.7"]];
    if (proto !== null) headers.push(["X-Forwarded-Proto", proto]);
    return readClientInfo(receivedMessage(headers), trusted, "http");
  };
  expect(read("https", null)).toEqual({ address: "127.0.0.1", scheme: "http" });
  expect(read("https", trustedPeers(["192.0.2.1"]))).toEqual({ address: "127.0.0.1", scheme: "http" });
  for (const [proto, scheme] of [
    ["https", "https"],
    ["http, HTTPS ", "https"],
    ["https, http", "http"],
    ["ftp", "http"],
    [null, "http"],
  ] as const)
    expect([proto, read(proto)]).toEqual([proto, { address: "203.0.113.7", scheme }]);
  expect(readClientInfo(receivedMessage([["X-Forwarded-Proto", "http"]]), trusts, "https").scheme).toBe("http");
});

test.each([
  ["Bearer sva_x", "sva_x"],
  ["bearer   sva_  ", "sva_"],
  [undefined, null],
  ["Bearer sva", null],
  ["Bearersva_x", null],
  ["x Bearer sva_x", null],
  ["Bearer svp_x", null],
  ["Bearer sva_x y", null],
])("the app token in Authorization %s is %s", (authorization, token) => {
  expect(readAppToken(authorization)).toBe(token);
});

test("a token is valid if it is the current one, or the previous one before its end", async () => {
  const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");
  const isValid = async (token: string, entry: Partial<AuthEntry> | null) => {
    const stored = entry === null ? null : { appId: "a", tokenSha256: sha256("current"), ...entry };
    const entries = { get: async (appId: string) => (appId === "a" ? stored : null) } as AuthEntries;
    return verifyAppToken(entries, "a", token);
  };
  const previous = { tokenSha256: sha256("previous"), until: new Date(Date.now() + 60_000).toISOString() };
  const expired = { ...previous, until: new Date(Date.now() - 1).toISOString() };
  expect([await isValid("current", {}), await isValid("current", { previous: expired })]).toEqual([true, true]);
  expect([await isValid("previous", { previous }), await isValid("previous", { previous: expired })]).toEqual([
    true,
    false,
  ]);
  const others = [
    await isValid("other", { previous }),
    await isValid("previous", {}),
    await isValid("current", null),
    await isValid("current", { tokenSha256: "" }),
    await isValid("current", { tokenSha256: sha256("current").slice(2) }),
  ];
  expect(others).toEqual(others.map(() => false));
});

test("open requests are limited for each app and for each client network", () => {
  const requests = new OpenRequests({ requestsPerApp: 3, requestsPerClient: 2 });
  const refused = (message: string) =>
    expect.objectContaining({
      status: 503,
      headers: { "retry-after": "1" },
      message: expect.stringContaining(message),
    });
  requests.add("shop", "a");
  requests.add("shop", "a");
  expect(() => requests.add("shop", "a")).toThrow(refused("This address"));
  requests.add("other", "a");
  requests.add("shop", "b");
  expect(() => requests.add("shop", "c")).toThrow(refused("The app"));
  requests.remove("shop", "a");
  requests.add("shop", "c");
  requests.remove("shop", "c");
  requests.add("shop", "a");
  requests.remove("shop", "b");
  expect(() => requests.add("shop", "a")).toThrow(refused("This address"));
  for (let count = 0; count < 2; count++) requests.remove("shop", "a");
  for (const network of ["a", "a", "b"]) requests.add("shop", network);
  expect(() => requests.add("shop", "c")).toThrow(refused("The app"));
});

test("a request that was never counted is not removed", () => {
  const requests = new OpenRequests({ requestsPerApp: 1, requestsPerClient: 1 });
  requests.remove("shop", "a");
  requests.add("shop", "a");
  expect(() => requests.add("shop", "b")).toThrow(expect.objectContaining({ status: 503 }));
});
