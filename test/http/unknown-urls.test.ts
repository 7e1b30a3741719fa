import { expect, test } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

test("404 shows a browser the dashboard's page for an unknown URL, and gives programs and APIs a JSON error", async () => {
  const { publicUrl } = service().service;
  const request = async (path: string, accept: string, method = "GET") => {
    const response = await fetch(publicUrl + path, { method, headers: { accept } });
    const contentType = response.headers.get("content-type")?.split(";")[0];
    return [response.status, contentType, (await response.text()).slice(0, 15)];
  };
  const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const page = [404, "text/html", "<!doctype html>"];
  const json = [404, "application/json", expect.stringMatching(/^\{"error":/)];
  for (const path of ["/nowhere", "/app/one?x=1", "/v1x", "/%2e%2e/etc"])
    expect([path, await request(path, browserAccept)]).toEqual([path, page]);
  for (const path of ["/v1/nowhere", "/v1?x", "/api/nowhere", "/trpc/", "/.well-known/nowhere", "/assets/nowhere.js"])
    expect([path, (await request(path, browserAccept))[1]]).not.toEqual([path, "text/html"]);
  for (const accept of ["*/*", "application/json"])
    for (const path of ["/nowhere", "/apps"]) expect([path, await request(path, accept)]).toEqual([path, json]);
  expect(await request("/nowhere", browserAccept, "POST")).toEqual(json);
  const { headers } = await fetch(`${publicUrl}/nowhere`, { headers: { accept: browserAccept } });
  expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
});
