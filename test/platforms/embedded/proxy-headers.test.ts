import { expect, test } from "vitest";
import {
  bodyFraming,
  hasBody,
  requestHeaders,
  responseHeaders,
} from "../../../server/platforms/embedded/proxy/proxy-headers.ts";
import { receivedMessage } from "../../support/edge/received-message.ts";

const context = {
  verified: false,
  requestId: "id-1",
  clientInfo: { address: "192.0.2.1", scheme: "https" as const },
  appsDomain: "apps.example",
};
const ADDED = [
  ["x-request-id", "id-1"],
  ["cf-connecting-ip", "192.0.2.1"],
  ["x-forwarded-for", "192.0.2.1"],
  ["x-forwarded-proto", "https"],
];
const pairs = (raw: string[]) => Array.from({ length: raw.length / 2 }, (_, at) => raw.slice(at * 2, at * 2 + 2));
const received = (headers: [string, string][], changes = {}) =>
  pairs(requestHeaders(receivedMessage(headers), { ...context, ...changes }));

test("an app receives the headers of a request unchanged, and those of the platform", () => {
  const sent: [string, string][] = [
    ["Host", "shop.apps.example"],
    ["X-Public", "1"],
    ["x-public", "2"],
    ["Authorization", "Basic x"],
  ];
  expect(received(sent)).toEqual([...sent, ...ADDED, ["x-forwarded-host", "shop.apps.example"]]);
});

test("a request with a valid token is marked, and its token is removed", () => {
  expect(received([["Authorization", "Bearer sva_x"]], { verified: true })).toEqual([
    ...ADDED,
    ["x-service-auth", "app"],
  ]);
  expect(received([["Authorization", "Basic x"]], { verified: true })).toEqual([...ADDED, ["x-service-auth", "app"]]);
});

test.each(["Bearer sva_x", "SVK_x", "a,svp_x", "a=svg_x", "a:svk_x", 'Bearer "svk_x"', "'svk_x'"])(
  "the Authorization header %s contains a token of the service and is removed",
  (value) => {
    expect(received([["Authorization", value]])).toEqual(ADDED);
    expect(received([["X-Token", value]])).toEqual([["X-Token", value], ...ADDED]);
  },
);

test.each(["Bearer xsva_x", "Bearer svx_x", "Bearer sva-x", "Bearer a.svk_x"])(
  "the Authorization header %s is not of the service and is kept",
  (value) => {
    expect(received([["Authorization", value]])).toEqual([["Authorization", value], ...ADDED]);
  },
);

test.each([
  ...["cf-connecting-ip", "cf-connecting-ipv6", "cf-ipcountry", "cf-pseudo-ipv4", "cf-visitor", "forwarded"],
  ...["true-client-ip", "x-client-ip", "x-cluster-client-ip", "x-real-ip", "x-request-id", "x-forwarded-for"],
  ...["x-forwarded-", "x-service-auth", "mf-cf-blob", "X_Real_IP", "x.request.id", "mf_a", "x-forwarded_host"],
  ...["content_length", "content.length", "keep_alive", "transfer_encoding", "expect"],
  ...["te", "trailer", "upgrade", "proxy-connection", "proxy-authenticate", "proxy-authorization", "keep-alive"],
])("an app does not receive the header %s of a client", (name) => {
  expect(received([[name, "1"]])).toEqual(ADDED);
});

test.each(["a-x-service-auth", "xservice-auth", "x-services", "cf-ray", "x_custom", "amf-x", "content-length"])(
  "an app receives the header %s of a client",
  (name) => {
    expect(received([[name, "1"]])).toEqual([[name, "1"], ...ADDED]);
  },
);

test("the headers that Connection names are removed, except those that frame the request", () => {
  const named: [string, string][] = [
    ["X-Private", "1"],
    ["Host", "a"],
    ["Content-Length", "1"],
    ["close", "kept"],
    ["Keep-Alive-X", "1"],
  ];
  const connection: [string, string] = ["Connection", "Keep-Alive-X, x-private ,Host,content-length"];
  expect(received([connection, ...named])).toEqual([
    ["Host", "a"],
    ["Content-Length", "1"],
    ["close", "kept"],
    ...ADDED,
    ["x-forwarded-host", "a"],
  ]);
  for (const value of ["close", "keep-alive"])
    expect(received([["Connection", value], ...named])).toEqual([...named, ...ADDED, ["x-forwarded-host", "a"]]);
});

test("a client receives the headers of an app without cookies for all apps", () => {
  const response = receivedMessage([
    ["Set-Cookie", "own=1"],
    ["set-cookie", "shared=1; Domain=apps.example"],
    ["X-Cookie", "a=1; Domain=apps.example"],
    ["Transfer-Encoding", "chunked"],
    ["X-Service-Auth", "of the app"],
  ]);
  expect(pairs(responseHeaders(response, "apps.example"))).toEqual([
    ["Set-Cookie", "own=1"],
    ["X-Cookie", "a=1; Domain=apps.example"],
    ["X-Service-Auth", "of the app"],
  ]);
});

test("the framing of a body is the same towards the app", () => {
  const chunked: [string, string] = ["Transfer-Encoding", "chunked"];
  expect([bodyFraming(receivedMessage([chunked], "POST")), hasBody(receivedMessage([chunked]))]).toEqual([
    ["transfer-encoding", "chunked"],
    true,
  ]);
  for (const length of ["3", "0"]) {
    const sent = receivedMessage([["Content-Length", length]], "POST");
    expect([bodyFraming(sent), hasBody(sent)]).toEqual([[], length !== "0"]);
  }
  for (const method of ["POST", "DELETE", "OPTIONS"])
    expect([bodyFraming(receivedMessage([], method)), hasBody(receivedMessage([], method))]).toEqual([
      ["content-length", "0"],
      false,
    ]);
  for (const method of ["GET", "HEAD"]) expect(bodyFraming(receivedMessage([], method))).toEqual([]);
});
