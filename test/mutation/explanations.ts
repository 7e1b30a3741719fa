import type { Explanation } from "./explanations/explanation.ts";
import { DOMAIN_TOKENS } from "./explanations/domain-tokens.ts";
import { SERVER_AUTH } from "./explanations/server-auth.ts";

/** By the path of the source. */
export const EXPLANATIONS: Record<string, Explanation[]> = {
  ...SERVER_AUTH,
  ...DOMAIN_TOKENS,
};
