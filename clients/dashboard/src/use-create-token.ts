import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOrganization } from "./organization.ts";
import { type Token, TOKENS } from "./tokens-query.ts";

interface NewToken {
  kind: "api_key" | "personal_access_token";
  name: string;
  scope: Token["scope"];
  /** `0` for a token that does not expire. */
  days: number;
}

const DAY_MS = 86_400_000;

/** Creates a token, and reloads the list of tokens. */
export function useCreateToken() {
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  return useMutation({
    mutationFn: ({ days, ...token }: NewToken) => {
      const expiresAt = new Date(Date.now() + days * DAY_MS).toISOString();
      return api.tokens.issue.mutate({ ...token, ...(days > 0 && { expires_at: expiresAt }) });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: [TOKENS, orgId] }),
  });
}
