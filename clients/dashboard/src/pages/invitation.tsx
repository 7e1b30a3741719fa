import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { getSession, clearAccessToken, callIdentity } from "../api.ts";
import { organizationUrl } from "../organization.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { Notice, ErrorNotice } from "../ui/notice.tsx";

interface Invitation {
  organizationId: string;
  organizationName: string;
  inviterEmail: string;
  role: string;
}

export function InvitationPage({ id }: { id: string }) {
  const session = useQuery({ queryKey: ["session"], queryFn: getSession });
  if (session.isPending) return <CardPage title="Invitation">Loading…</CardPage>;
  return (
    <CardPage title="Invitation">
      <ErrorNotice error={session.error} />
      {session.data === null ? (
        <SignInChoice id={id} />
      ) : (
        <InvitationDecision id={id} email={session.data?.user.email ?? ""} />
      )}
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

function InvitationDecision({ id, email }: { id: string; email: string }) {
  const invitation = useQuery({
    queryKey: ["invitation", id],
    queryFn: () => callIdentity<Invitation>(`/organization/get-invitation?${new URLSearchParams({ id })}`),
  });
  const decision = useMutation({
    mutationFn: (accept: boolean) =>
      callIdentity(accept ? "/organization/accept-invitation" : "/organization/reject-invitation", {
        invitationId: id,
      }),
    onSuccess: async (_response, accept) => {
      if (accept && invitation.data !== undefined)
        await callIdentity("/organization/set-active", { organizationId: invitation.data.organizationId });
      clearAccessToken();
      location.assign(accept && invitation.data !== undefined ? organizationUrl(invitation.data.organizationId) : "/");
    },
  });
  if (invitation.isPending) return <p>Loading…</p>;
  if (invitation.error)
    return (
      <>
        <ErrorNotice error={invitation.error} />
        <Notice>
          You are signed in as {email}. The invitation may be for another email address, or it has expired.
        </Notice>
      </>
    );
  const { organizationName, inviterEmail, role } = invitation.data;
  return (
    <div className="space-y-4">
      <p>
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
