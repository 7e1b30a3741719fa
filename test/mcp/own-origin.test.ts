import { expect, test } from "vitest";
import { isOwnOrigin } from "../../server/mcp/plugin.ts";

const PUBLIC = "https://apps.example.com";
const LOCAL = "http://localhost:8080";

test.each([
  [PUBLIC, { host: "apps.example.com" }, true],
  [PUBLIC, { host: "apps.example.com:8443", origin: "http://apps.example.com" }, true],
  [PUBLIC, { host: "apps.example.com", origin: "https://other.example.com" }, false],
  [PUBLIC, { host: "apps.example.com", origin: "null" }, false],
  [PUBLIC, { host: "other.example.com" }, false],
  [PUBLIC, { host: "localhost:8080" }, false],
  [PUBLIC, { host: "not a host" }, false],
  [PUBLIC, {}, false],
  [LOCAL, { host: "127.0.0.1:8080", origin: "http://[::1]:6274" }, true],
  [LOCAL, { host: "rebound.example.com:8080" }, false],
])("the gateway at %s decides whether a request is of its own site: %j %s", (publicUrl, headers, isOwn) => {
  expect(isOwnOrigin(headers, new URL(publicUrl))).toBe(isOwn);
});
