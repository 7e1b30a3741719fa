import { randomUUID } from "node:crypto";
import { TRPCClientError } from "@trpc/client";
import { expect, test } from "vitest";
import { rpcErrorOf, rpcClient } from "../support/clients/rpc-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();

const createClient = ({ api_key: apiKey }: Tenant) => rpcClient(service().service.publicUrl, apiKey);

test("an invalid input gets the same sentence over REST and typed RPC, with its issues as data over RPC", async () => {
  const tenant = await service().tenant();
  const input = { kind: "api_key", name: "", surprise: 1, more: 2 };
  const { status, body } = await tenant.rest.post("/v1/tokens", input);
  const error = await createClient(tenant)
    .tokens.issue.mutate(input as never)
    .then(
      () => null,
      (thrown: unknown) => thrown as TRPCClientError<never>,
    );
  expect(error).toBeInstanceOf(TRPCClientError);
  expect([status, error?.message]).toEqual([400, body["error"]]);
  expect(error?.message).toMatch(/^name: [^;]+; unknown field "surprise", "more"$/);
  expect(error?.data).toMatchObject({
    httpStatus: 400,
    errorCode: "invalid",
    issues: [
      { path: ["name"], message: expect.any(String) },
      { path: [], message: 'unknown field "surprise", "more"' },
    ],
  });
});

test("the response to an invalid input does not grow with the number of its unknown fields", async () => {
  const tenant = await service().tenant();
  const unknown = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`field${n}`, n]));
  const response = await fetch(`${service().service.publicUrl}/trpc/tokens.issue`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.api_key}`, "content-type": "application/json" },
    body: JSON.stringify({ kind: "api_key", name: "x", ...unknown }),
  });
  expect(response.status).toBe(400);
  expect((await response.text()).length).toBeLessThan(1000);
});

verifies(
  ["rest.id.uuid", hazard(26)],
  "a malformed id gets the same 404 as an unknown id, over REST and typed RPC",
  async () => {
    const tenant = await service().tenant();
    const client = createClient(tenant);
    const calls: [string, (id: string) => Promise<unknown>, (id: string) => string][] = [
      ["App not found", (id) => client.apps.get.query({ id }), (id) => `/v1/apps/${id}`],
      ["App not found", (id) => client.apps.logs.query({ id }), (id) => `/v1/apps/${id}/logs`],
      ["App not found", (id) => client.apps.delete.mutate({ id }), (id) => `/v1/apps/${id}`],
      ["Token not found", (id) => client.tokens.revoke.mutate({ id }), (id) => `/v1/tokens/${id}`],
    ];
    for (const [message, call, pathOf] of calls)
      for (const id of ["not-a-uuid", randomUUID()]) {
        expect([id, await rpcErrorOf(call(id))]).toEqual([id, { message, status: 404, errorCode: "not_found" }]);
        const method = message.startsWith("Token") ? "DELETE" : "GET";
        const { status, body } = await tenant.rest.send(method, pathOf(id), {});
        expect([id, status, body]).toEqual([id, 404, { error: message }]);
      }
  },
);
