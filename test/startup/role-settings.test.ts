import { expect, test } from "vitest";
import { readConfig } from "../../server/config.ts";

const SHARED = {
  DATABASE_URL: "postgres://user@db.example.com/apps",
  APPS_DATABASE_URL: "postgres://user@apps.example.com/postgres",
  TOKEN_SECRET: "t".repeat(32),
  APPS_DOMAIN: "apps.example.com",
  OBJECT_STORE: "s3",
  S3_ENDPOINT: "https://s3.example.com",
  S3_BUCKET: "objects",
  S3_REGION: "eu",
  S3_ACCESS_KEY_ID: "key",
  S3_SECRET_ACCESS_KEY: "secret",
};

const CLOUDFLARE = {
  EDGE_PLATFORM: "cloudflare",
  CLOUDFLARE_ACCOUNT_ID: "a".repeat(32),
  CLOUDFLARE_API_TOKEN: "token-of-the-account",
  CLOUDFLARE_DISPATCH_NAMESPACE: "apps",
};

test("by default, one process has every role and needs no setting", () => {
  expect(readConfig({})).toMatchObject({
    roles: new Set(["api", "worker", "edge"]),
    internalPort: null,
    edgeInternalUrl: null,
    isOneOfSeveral: false,
  });
});

test("a process has the roles of the list", () => {
  const { roles, edgeInternalUrl } = readConfig({
    ...SHARED,
    ROLES: "api, worker",
    EDGE_INTERNAL_URL: "https://edge.example.com:3002",
  });
  expect([...roles]).toEqual(["api", "worker"]);
  expect(edgeInternalUrl).toBe("https://edge.example.com:3002");
  expect(readConfig({ ...SHARED, ROLES: "edge", INTERNAL_PORT: "3002" })).toMatchObject({
    internalPort: 3002,
    isOneOfSeveral: true,
  });
});

test("APIs and workers whose apps run on Cloudflare need no edge", () => {
  const { APPS_DATABASE_URL: _, ...shared } = SHARED;
  const settings = { ...shared, ...CLOUDFLARE, ROLES: "api,worker" };
  expect(readConfig(settings)).toMatchObject({ edgeInternalUrl: null, isOneOfSeveral: true });
  expect(readConfig({ ...settings, ROLES: undefined })).toMatchObject({ isOneOfSeveral: false });
});

test.each([
  [{ ROLES: "api,builder" }, "ROLES must be a list of: api, worker, edge"],
  [{ ROLES: "api" }, "EDGE_INTERNAL_URL is required without the role edge"],
  [{ ROLES: "edge" }, "INTERNAL_PORT is required"],
  [{ ROLES: "api", EDGE_INTERNAL_URL: "https://edge:1", INTERNAL_PORT: "3002" }, "INTERNAL_PORT needs the role edge"],
  [{ EDGE_INTERNAL_URL: "https://edge:1" }, "EDGE_INTERNAL_URL must not be set"],
  [{ ROLES: "api", EDGE_INTERNAL_URL: "http://edge:1" }, "EDGE_INTERNAL_URL"],
  [{ ROLES: "api,edge", ...CLOUDFLARE }, "processes have the roles api, worker or api,worker"],
  [{ INTERNAL_PORT: "3002", ...CLOUDFLARE }, "INTERNAL_PORT and EDGE_INTERNAL_URL must not be set"],
  [
    { ROLES: "api", EDGE_INTERNAL_URL: "https://edge:1", ...CLOUDFLARE },
    "must not be set with EDGE_PLATFORM=cloudflare",
  ],
  [{ ROLES: "api", OBJECT_STORE: "filesystem", ...CLOUDFLARE }, "OBJECT_STORE must be s3"],
  [{ INTERNAL_PORT: "70000" }, "INTERNAL_PORT must be a port number"],
])("%j is refused with what is wrong", (settings, message) => {
  expect(() => readConfig({ ...SHARED, ...settings })).toThrow(message);
});

test("processes of one installation need what they share", () => {
  expect(() => readConfig({ INTERNAL_PORT: "3002" })).toThrow(
    "DATABASE_URL is required, and APPS_DATABASE_URL is required, and TOKEN_SECRET is required, and APPS_DOMAIN is required, and OBJECT_STORE must be s3, because several processes share them",
  );
});
