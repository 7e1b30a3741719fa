import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { reachesRole } from "../../../../../domain/shared/roles.ts";
import type { App } from "../../apps-query.ts";
import { connectionsQuery } from "../../connections-query.ts";
import { invitationsQuery } from "../../invitations-query.ts";
import { membersQuery } from "../../members-query.ts";
import { useOrganization } from "../../organization.ts";
import { tokensQuery } from "../../tokens-query.ts";

export interface ShownSteps {
  hasApp: boolean;
  isAgentConnected: boolean;
  isTeammateInvited: boolean;
  /** Hides the steps in this browser. */
  dismiss: () => void;
}

/**
 * Returns which of the first steps are done; `null` when all are done or the user has dismissed them, and `undefined` until
 * this is known, so that nothing appears that would disappear at once.
 */
export function useFirstSteps(apps: readonly App[] | undefined): ShownSteps | null | undefined {
  const { id: orgId } = useOrganization();
  const [isDismissed, dismiss] = useDismissal(`first-steps-dismissed:${orgId}`);
  const isAgentConnected = useAgentConnected();
  const isTeammateInvited = useTeammateInvited();
  if (isDismissed) return null;
  if (apps === undefined || isAgentConnected === undefined || isTeammateInvited === undefined) return undefined;
  const hasApp = apps.some(({ status }) => status === "ready");
  if (hasApp && isAgentConnected && isTeammateInvited) return null;
  return { hasApp, isAgentConnected, isTeammateInvited, dismiss };
}

/** Whether a client of the user, or an agent, has used the tool gateway; `undefined` until it is known. */
function useAgentConnected(): boolean | undefined {
  const { id: orgId } = useOrganization();
  const tokens = useQuery(tokensQuery(orgId));
  const connections = useQuery(connectionsQuery(orgId));
  if (tokens.isPending || connections.isPending) return undefined;
  const hasUsedToken = tokens.data?.some(
    ({ kind, last_used_at: lastUsedAt }) => kind !== "api_key" && lastUsedAt !== null,
  );
  return hasUsedToken === true || (connections.data ?? []).length > 0;
}

function useTeammateInvited(): boolean | undefined {
  const { id: orgId, role } = useOrganization();
  const canInvite = reachesRole(role, "admin");
  const members = useQuery(membersQuery(orgId));
  const invitations = useQuery({ ...invitationsQuery(orgId), enabled: canInvite });
  if (members.isPending || (canInvite && invitations.isPending)) return undefined;
  return (members.data ?? []).length > 1 || (invitations.data ?? []).length > 0;
}

/** Whether the user has dismissed something in this browser, and a function that remembers it. */
function useDismissal(key: string): readonly [boolean, () => void] {
  const [isDismissed, setDismissed] = useState(() => localStorage.getItem(key) !== null);
  const dismiss = (): void => {
    localStorage.setItem(key, "1");
    setDismissed(true);
  };
  return [isDismissed, dismiss];
}
