import { expect } from "vitest";
import { GatewayClient } from "../support/gateway-client.ts";
import { openStream } from "../support/open-stream.ts";
import { sharedHarness } from "../support/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();

verifies(
  hazard(29),
  "an open stream ends when the token it was opened with is revoked, and no other does",
  async () => {
    const [one, two] = [await service().tenant(), await service().tenant()];
    const { publicUrl, parts } = service().service;
    const revoked = await openStream(publicUrl, one.personal_access_token);
    const kept = await openStream(publicUrl, two.personal_access_token);
    await parts.orm.em.fork().execute("update machine_tokens set revoked_at = now() where org_id = ?", [one.org_id]);
    parts.services.accessChanges.announce(one.org_id);
    await revoked.ended;
    expect((await new GatewayClient(publicUrl, one.personal_access_token).call("ping")).status).toBe(401);
    expect(await Promise.race([kept.ended.then(() => "ended"), Promise.resolve("open")])).toBe("open");
    await Promise.all([revoked.close(), kept.close()]);
  },
);
