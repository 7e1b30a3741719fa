import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { type Token, TOKENS } from "../../tokens-query.ts";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { ErrorNotice, Notice } from "../../ui/notice.tsx";
import { SecretValue } from "../../ui/secret-value.tsx";
import { Cell, Row } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

function isPast(at: string | null): boolean {
  return at !== null && Date.parse(at) < Date.now();
}

/** A token of the list, which can be replaced and revoked. */
export function TokenRow({
  token: { id, name, prefix, scope, created_at, last_used_at, expires_at },
}: {
  token: Token;
}) {
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const revoke = useMutation({
    mutationFn: () => api.tokens.revoke.mutate({ id }),
    onSuccess: () => client.invalidateQueries({ queryKey: [TOKENS, orgId] }),
  });
  const rotate = useMutation({
    mutationFn: () => api.tokens.rotate.mutate({ id, overlap: "day" }),
    onSuccess: () => client.invalidateQueries({ queryKey: [TOKENS, orgId] }),
  });
  return (
    <Row>
      <Cell>
        {name}
        <ErrorNotice error={revoke.error ?? rotate.error} />
        {rotate.data !== undefined && (
          <Notice variant="success">
            <SecretValue
              label="Copy the new token now. It is not shown again. The previous one is valid for another day."
              value={rotate.data.token}
            />
          </Notice>
        )}
      </Cell>
      <Cell>
        <code>{prefix}…</code>
      </Cell>
      <Cell>{scope}</Cell>
      <Cell>
        <Timestamp at={created_at} />
      </Cell>
      <Cell>
        <Timestamp at={last_used_at} />
      </Cell>
      <Cell>{isPast(expires_at) ? "expired" : <Timestamp at={expires_at} />}</Cell>
      <Cell>
        <TokenActions name={name} revoke={revoke} rotate={rotate} />
      </Cell>
    </Row>
  );
}

interface Action {
  isPending: boolean;
  mutate(): void;
}

function TokenActions({ name, revoke, rotate }: { name: string; revoke: Action; rotate: Action }) {
  return (
    <span className="inline-flex flex-wrap gap-2">
      <ConfirmButton
        label="Replace"
        accessibleLabel={`Replace ${name}`}
        question={`Replace ${name}?`}
        busy={rotate.isPending}
        danger={false}
        onConfirm={() => rotate.mutate()}
      >
        You get a new token with the same permissions. The present one stays valid for a day, so that programs can
        change to the new one.
      </ConfirmButton>
      <ConfirmButton
        label="Revoke"
        accessibleLabel={`Revoke ${name}`}
        question={`Revoke ${name}?`}
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      >
        Every program that uses this token loses access immediately. This cannot be undone.
      </ConfirmButton>
    </span>
  );
}
