import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { openForwarder } from "../../../support/object-store/open-forwarder.ts";
import type { SignedRequest } from "../../../support/object-store/send-signed.ts";

const OTHER = "/apps/apps/10/secret";
const list = (query: Record<string, string>) => ({ path: "/apps", query: { "list-type": "2", ...query } });

/** Requests with a valid signature that the forwarder refuses. */
const REFUSED: Record<string, [status: number, code: string, request: Partial<SignedRequest>]> = {
  "the object of another app": [403, "AccessDenied", { path: OTHER }],
  "a write to another app": [403, "AccessDenied", { method: "PUT", path: OTHER, body: "x" }],
  "a deletion in another app": [403, "AccessDenied", { method: "DELETE", path: OTHER }],
  "a key beside the prefix": [403, "AccessDenied", { path: "/apps/apps/1" }],
  "another bucket": [404, "NoSuchBucket", { path: "/objects/apps/1/a" }],
  "a bucket whose name begins with the name": [404, "NoSuchBucket", { path: "/appsapps/1/a" }],
  "a path above the prefix": [400, "InvalidURI", { path: "/apps/apps/1/../10/secret" }],
  "an encoded path above the prefix": [400, "InvalidURI", { path: "/apps/apps/1/%2E%2E/10/secret" }],
  "an encoded slash": [400, "InvalidURI", { path: "/apps/apps/1/..%2F10%2Fsecret" }],
  "a double encoding": [400, "InvalidURI", { path: "/apps/apps/1/%252E%252E/10/secret" }],
  "an encoding in lower case": [400, "InvalidURI", { path: "/apps/apps/1/%c3%bc" }],
  "an encoding that is not necessary": [400, "InvalidURI", { path: "/apps/apps/1/%61" }],
  "an incomplete encoding": [400, "InvalidURI", { path: "/apps/apps/1/%E0%A4" }],
  "an empty segment": [400, "InvalidURI", { path: "/apps/apps/1//a" }],
  "a slash at the end": [400, "InvalidURI", { path: "/apps/apps/1/" }],
  "a backslash": [400, "InvalidURI", { path: "/apps/apps/1/..%5Ca" }],
  "a control character": [400, "InvalidURI", { path: "/apps/apps/1/%0A" }],
  "a URL with a host": [404, "NoSuchBucket", { url: "http://other/apps/apps/1/a" }],
  "a list of the bucket": [403, "AccessDenied", list({})],
  "a list of another app": [403, "AccessDenied", list({ prefix: "apps/10/" })],
  "a list above the prefix": [403, "AccessDenied", list({ prefix: "apps/1" })],
  "a list with a path above the prefix": [403, "AccessDenied", list({ prefix: "apps/1/../10/" })],
  "a list with a double encoding": [403, "AccessDenied", list({ prefix: "apps/1/%2E%2E/10/" })],
  "a list that starts outside the prefix": [403, "AccessDenied", list({ prefix: "apps/1/", "start-after": "apps/0" })],
  "a list with another delimiter": [501, "NotImplemented", list({ prefix: "apps/1/", delimiter: "1" })],
  "a list with an encoding": [501, "NotImplemented", list({ prefix: "apps/1/", "encoding-type": "url" })],
  "a list with more keys than S3 allows": [400, "InvalidArgument", list({ prefix: "apps/1/", "max-keys": "1001" })],
  "a list of version 1": [501, "NotImplemented", { path: "/apps", query: { prefix: "apps/1/" } }],
  "the list of buckets": [404, "NoSuchBucket", { path: "/" }],
  "the creation of a bucket": [501, "NotImplemented", { method: "PUT", path: "/apps", body: "x" }],
  "the deletion of the bucket": [501, "NotImplemented", { method: "DELETE", path: "/apps" }],
  "a deletion of several objects": [501, "NotImplemented", { method: "POST", path: "/apps", query: { delete: "" } }],
  "the start of a multipart upload": [501, "NotImplemented", { method: "POST", query: { uploads: "" } }],
  "a part of an upload": [501, "NotImplemented", { method: "PUT", query: { partNumber: "1", uploadId: "x" } }],
  "a form upload": [501, "NotImplemented", { method: "POST", path: "/apps" }],
  "another method": [501, "NotImplemented", { method: "PATCH" }],
  "an unknown parameter": [501, "NotImplemented", { query: { "x-id": "GetObject" } }],
  "an override of response headers": [501, "NotImplemented", { query: { "response-content-type": "text/html" } }],
  "a body without a length": [
    501,
    "NotImplemented",
    { method: "PUT", unsignedHeaders: { "transfer-encoding": "chunked" } },
  ],
  "a body that is too large": [
    400,
    "EntityTooLarge",
    { method: "PUT", headers: { "content-length": String(5 * 1024 ** 3 + 1) } },
  ],
  "a body with signed chunks": [
    501,
    "NotImplemented",
    { method: "PUT", body: "x", headers: { "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" } },
  ],
  "a body with a content encoding": [
    501,
    "NotImplemented",
    { method: "PUT", body: "x", headers: { "content-encoding": "aws-chunked" } },
  ],
};
for (const subresource of ["acl", "tagging", "policy", "versions", "lifecycle", "uploads", "attributes", "retention"]) {
  REFUSED[`the subresource ${subresource} of an object`] = [501, "NotImplemented", { query: { [subresource]: "" } }];
  REFUSED[`the subresource ${subresource} of the bucket`] = [
    501,
    "NotImplemented",
    { path: "/apps", query: { [subresource]: "" } },
  ];
}
for (const header of [
  "x-amz-copy-source",
  "x-amz-acl",
  "x-amz-tagging",
  "x-amz-storage-class",
  "x-amz-server-side-encryption",
  "x-amz-website-redirect-location",
  "x-amz-object-lock-mode",
  "x-amz-security-token",
  "x-amz-trailer",
  "if-unmodified-since",
])
  REFUSED[`a write with the header ${header}`] = [
    501,
    "NotImplemented",
    { method: "PUT", body: "x", headers: { [header]: "production/apps/10/secret" } },
  ];

test.each(Object.entries(REFUSED))("refuses %s", async (_, [status, code, changes]) => {
  await using h = await openForwarder();
  const response = await h.send(changes);
  expect([response.status, response.code]).toEqual([status, code]);
  expect(response.headers["content-type"]).toBe("application/xml");
  expect(h.server.requests).toEqual([]);
});

const FORGED: Record<string, [code: string, request: Partial<SignedRequest>]> = {
  "another secret": ["SignatureDoesNotMatch", { secretAccessKey: "wrong" }],
  "an unknown access key": ["InvalidAccessKeyId", { accessKeyId: "UNKNOWN" }],
  "a time 16 minutes ago": ["RequestTimeTooSkewed", { date: new Date(Date.now() - 16 * 60_000) }],
  "a time in 16 minutes": ["RequestTimeTooSkewed", { date: new Date(Date.now() + 16 * 60_000) }],
  "the signature of another key": ["SignatureDoesNotMatch", { url: "/apps/apps/1/b" }],
  "the signature of another query": ["SignatureDoesNotMatch", { url: "/apps/apps/1/a?acl=" }],
  "the signature of another method": ["SignatureDoesNotMatch", { sentMethod: "DELETE" }],
  "a time of another day": ["AccessDenied", { unsignedHeaders: { "x-amz-date": "20200101T000000Z" } }],
  "a hash of the body that is not signed": [
    "SignatureDoesNotMatch",
    { unsignedHeaders: { "x-amz-content-sha256": createHash("sha256").digest("hex") } },
  ],
  "a header of S3 that is not signed": ["AccessDenied", { unsignedHeaders: { "x-amz-acl": "public-read" } }],
  "no signature": ["AccessDenied", { unsignedHeaders: { authorization: "" } }],
  "basic authorization": ["AccessDenied", { unsignedHeaders: { authorization: "Basic a2V5OnNlY3JldA==" } }],
  "another host": ["AccessDenied", { unsignedHeaders: { host: "example.com" } }],
};

test.each(Object.entries(FORGED))("refuses a request with %s", async (_, [code, changes]) => {
  await using h = await openForwarder();
  const response = await h.send(changes);
  expect([response.status, response.code]).toEqual([403, code]);
  expect(response.body).not.toContain(h.grant.secretAccessKey);
  expect(h.server.requests).toEqual([]);
});
