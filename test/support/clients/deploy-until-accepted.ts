import { setTimeout as delay } from "node:timers/promises";
import type { RestClient } from "./rest-client.ts";

/**
 * Deploys an app while processes are killed. A deployment that is not acknowledged is requested again with the same key, so that none
 * exists twice.
 *
 * @param clientOf - the client of an attempt, which has a number from 0
 */
export async function deployUntilAccepted(
  clientOf: (attempt: number) => RestClient,
  repo: string,
  key: string,
): Promise<Record<string, unknown>> {
  for (let attempt = 0; ; attempt++) {
    const response = await clientOf(attempt)
      .deploy({ repo }, { "idempotency-key": key })
      .catch(() => null);
    if (response?.status === 201 || response?.status === 200) return response.body;
    await delay(200);
  }
}
