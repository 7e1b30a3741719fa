import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { callIdentity } from "../api.ts";
import { usePathParameter } from "../page-params.ts";
import { reloadMemberships } from "../memberships.ts";
import { sessionQuery } from "../session-query.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { Notice, ErrorNotice } from "../ui/notice.tsx";
import { QueryContent } from "../ui/query-content.tsx";

interface Invitation {
  organizationId: string;
  organizationName: string;
  inviterEmail: string;
  role: string;
}

export function InvitationPage() {
  const id = usePathParameter("id");
  const session = useQuery(sessionQuery);
  return (
    <CardPage title="Invitation">
      <QueryContent query={session}>
        {(data) => (data === null ? <SignInChoice id={id} /> : <InvitationRequest id={id} email={data.user.email} />)}
      </QueryContent>
    </CardPage>
  );
}

function SignInChoice({ id }: { id: string }) {
  const next = `/invitations/${id}`;
  return (
    <div className="space-y-4 text-sm">
      <p>You are invited to an organization. Sign up with the invited email address, or sign in.</p>
      <div className="flex gap-4">
        <Link to="/sign-up" search={{ invitation: id }} className="font-medium underline">
          Sign up
        </Link>
        <Link to="/sign-in" search={{ next }} className="font-medium underline">
          Sign in
        </Link>
      </div>
    </div>
  );
}

function InvitationRequest({ id, email }: { id: string; email: string }) {
  const invitation = useQuery({
    queryKey: ["invitation", id],
    queryFn: () => callIdentity<Invitation>(`/organization/get-invitation?${new URLSearchParams({ id })}`),
  });
  return (
    <>
      <QueryContent query={invitation}>
        {(data) => <InvitationDecision id={id} email={email} invitation={data} />}
      </QueryContent>
      {invitation.isError && (
        <Notice>
          You are signed in as {email}. The invitation may be for another email address, or it has expired.
        </Notice>
      )}
    </>
  );
}

function InvitationDecision({ id, email, invitation }: { id: string; email: string; invitation: Invitation }) {
  const { organizationId, organizationName, inviterEmail, role } = invitation;
  const client = useQueryClient();
  const navigate = useNavigate();
  const decision = useMutation({
    mutationFn: (accept: boolean) =>
      callIdentity(accept ? "/organization/accept-invitation" : "/organization/reject-invitation", {
        invitationId: id,
      }),
    onSuccess: async (_response, accept) => {
      if (accept) await callIdentity("/organization/set-active", { organizationId });
      await reloadMemberships(client);
      await navigate({ to: "/", search: accept ? { org: organizationId } : {} });
    },
  });
  return (
    <div className="space-y-4">
      <p className="wrap-anywhere">
        {inviterEmail} invites you ({email}) to <strong>{organizationName}</strong> as {role}.
      </p>
      <ErrorNotice error={decision.error} />
      <div className="flex gap-2">
        <Button variant="primary" busy={decision.isPending} onClick={() => decision.mutate(true)}>
          Accept
        </Button>
        <Button busy={decision.isPending} onClick={() => decision.mutate(false)}>
          Decline
        </Button>
      </div>
    </div>
  );
}
