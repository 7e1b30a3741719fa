import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { currentSession, forgetToken, identity } from "../api.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { Notice, Problem } from "../ui/notice.tsx";

interface Invitation {
  organizationId: string;
  organizationName: string;
  inviterEmail: string;
  role: string;
}

export function InvitationPage({ id }: { id: string }) {
  const session = useQuery({ queryKey: ["session"], queryFn: currentSession });
  if (session.isPending) return <CardPage title="Invitation">Loading …</CardPage>;
  return (
    <CardPage title="Invitation">
      <Problem error={session.error} />
      {session.data === null ? <Strangers id={id} /> : <Answer id={id} email={session.data?.user.email ?? ""} />}
    </CardPage>
  );
}

function Strangers({ id }: { id: string }) {
  const next = `/invitations/${id}`;
  return (
    <div className="space-y-4 text-sm">
      <p>You were invited to an organization. Sign up with the address that the invitation was made for, or sign in.</p>
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

function Answer({ id, email }: { id: string; email: string }) {
  const invitation = useQuery({
    queryKey: ["invitation", id],
    queryFn: () => identity<Invitation>(`/organization/get-invitation?${new URLSearchParams({ id })}`),
  });
  const answer = useMutation({
    mutationFn: (accept: boolean) =>
      identity(accept ? "/organization/accept-invitation" : "/organization/reject-invitation", { invitationId: id }),
    onSuccess: async (_answer, accept) => {
      if (accept && invitation.data !== undefined)
        await identity("/organization/set-active", { organizationId: invitation.data.organizationId });
      forgetToken();
      location.assign("/");
    },
  });
  if (invitation.isPending) return <p>Loading …</p>;
  if (invitation.error)
    return (
      <>
        <Problem error={invitation.error} />
        <Notice>You are signed in as {email}. The invitation may be for another address, or no longer open.</Notice>
      </>
    );
  const { organizationName, inviterEmail, role } = invitation.data;
  return (
    <div className="space-y-4">
      <p>
        {inviterEmail} invites you ({email}) to <strong>{organizationName}</strong> as {role}.
      </p>
      <Problem error={answer.error} />
      <div className="flex gap-2">
        <Button look="primary" busy={answer.isPending} onClick={() => answer.mutate(true)}>
          Accept
        </Button>
        <Button busy={answer.isPending} onClick={() => answer.mutate(false)}>
          Decline
        </Button>
      </div>
    </div>
  );
}
