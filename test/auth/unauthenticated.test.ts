import { expect, test } from "vitest";
import { explainGatewayUnauthenticated, explainRestUnauthenticated } from "../../server/auth/unauthenticated.ts";

const PUBLIC_URL = "https://apps.example.com";

test("a 401 names the kind of a token that the API does not accept", () => {
  for (const [prefix, kind, isForRest] of [
    ["svk", "an API key", true],
    ["svp", "a personal access token", false],
    ["svg", "a gateway token", false],
  ] as const) {
    const authorization = `Bearer ${prefix}_x`;
    const [accepted, other] = isForRest
      ? [
          explainRestUnauthenticated(authorization, PUBLIC_URL),
          explainGatewayUnauthenticated(authorization, PUBLIC_URL),
        ]
      : [
          explainGatewayUnauthenticated(authorization, PUBLIC_URL),
          explainRestUnauthenticated(authorization, PUBLIC_URL),
        ];
    expect(accepted).toMatch(/^Missing or invalid token\. Create /);
    expect(other).toMatch(new RegExp(`^This is ${kind}\\. .+ accepts? an? .+\\. Create `));
  }
  for (const explain of [explainRestUnauthenticated, explainGatewayUnauthenticated]) {
    expect(explain("bearer sva_x", PUBLIC_URL)).toMatch(/^This is an app token\./);
    for (const authorization of [undefined, "", "Basic sva_x", "Bearer sva", "x Bearer sva_x", "Bearer svx_x"])
      expect(explain(authorization, PUBLIC_URL)).toMatch(/^Missing or invalid token\./);
  }
});
