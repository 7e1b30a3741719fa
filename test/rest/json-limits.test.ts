import { expect, test } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

test("400 for a body with more values than any operation needs, before it is parsed", async () => {
  const { rest } = await service().tenant();
  for (const body of [`{"repo":[${"{},".repeat(60_000)}{}]}`, `{"repo":${"[".repeat(200)}${"]".repeat(200)}}`]) {
    const headers = { "content-type": "application/json" };
    const response = await rest.send("POST", "/v1/apps/deploy", { body, headers });
    expect([response.status, response.body["error"]]).toEqual([
      400,
      expect.stringContaining("The request body has more than 100000 values, or more than 100 levels."),
    ]);
  }
});

test("400 for a message to the gateway with more values than any needs, before it is parsed", async () => {
  const { personal_access_token: token } = await service().tenant();
  const response = await fetch(`${service().service.publicUrl}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[${"{},".repeat(60_000)}{}]}}`,
  });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32700 } }]);
});
