import { expect, test } from "vitest";
import { generateClients } from "../support/clients/generated-clients.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

test.each(["bundler", "nodenext"] as const)(
  "clients of openapi-typescript and @hey-api/openapi-ts compile with moduleResolution %s, and deploy an app",
  async (moduleResolution) => {
    const { rest, api_key: apiKey } = await service().tenant();
    const { text: document } = await rest.get("/v1/openapi.json");
    await using clients = await generateClients(document, moduleResolution);
    for (const generator of ["openapi-typescript", "hey-api"] as const)
      expect([generator, await clients[generator](service().service.publicUrl, apiKey)]).toEqual([
        generator,
        { status: "queued", slug: expect.stringMatching(/^site-[a-z0-9]{6}$/), isSame: true },
      ]);
  },
);
