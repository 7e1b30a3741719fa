import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ROLE_DESCRIPTIONS } from "../../../../../domain/shared/roles.ts";
import { callIdentity } from "../../api.ts";
import { assignableRoles } from "../../assignable-roles.ts";
import { type Invitation, INVITATIONS, invitationsQuery } from "../../invitations-query.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { DescribedSelect } from "../../ui/described-select.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field } from "../../ui/field.tsx";
import { Notice, ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { submitForm } from "../../ui/submit-form.ts";
import { QueryContent } from "../../ui/query-content.tsx";
import { RequireRole, RoleHint } from "../../ui/require-role.tsx";
import { SecretValue } from "../../ui/secret-value.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

export function InvitationsPanel() {
  return (
    <Panel
      title="Invitations"
      intro="The service sends no email. Send the link of the invitation to the user yourself."
    >
      <RequireRole role="admin" to="invite users">
        <Invitations />
      </RequireRole>
    </Panel>
  );
}

function Invitations() {
  const { organizationId } = useInvitations();
  const [shownId, setShownId] = useState<string | null>(null);
  const invitations = useQuery(invitationsQuery(organizationId));
  return (
    <>
      <InvitationForm onInvited={setShownId} />
      <InvitationLink invitation={invitations.data?.find(({ id }) => id === shownId)} />
      <QueryContent query={invitations}>
        {(pending) =>
          pending.length === 0 ? (
            <EmptyState>No pending invitations. Enter an email address to invite a user.</EmptyState>
          ) : (
            <Table caption="Pending invitations" columns={["Email", "Role", "Expiry", "Actions"]}>
              {pending.map((invitation) => (
                <InvitationRow
                  key={invitation.id}
                  invitation={invitation}
                  onShowLink={() => setShownId(invitation.id)}
                />
              ))}
            </Table>
          )
        }
      </QueryContent>
    </>
  );
}

function InvitationForm({ onInvited }: { onInvited: (id: string) => void }) {
  const { organizationId, role, refresh } = useInvitations();
  const invite = useMutation({
    mutationFn: (form: FormData) =>
      callIdentity<{ id: string }>("/organization/invite-member", {
        organizationId,
        email: form.get("email"),
        role: form.get("role"),
      }),
    onSuccess: ({ id }) => {
      onInvited(id);
      return refresh();
    },
  });
  return (
    <>
      <form
        className="grid items-end gap-x-4 gap-y-3 sm:grid-cols-[2fr_1fr_auto]"
        onSubmit={(event) => submitForm(event, invite.mutate)}
      >
        <Field label="Email" name="email" type="email" required autoComplete="off" />
        <DescribedSelect label="Role" name="role" values={assignableRoles(role)} descriptions={ROLE_DESCRIPTIONS} />
        <Button type="submit" variant="primary" busy={invite.isPending}>
          Invite
        </Button>
      </form>
      <RoleHint role="owner" to="invite owners" />
      <ErrorNotice error={invite.error} />
    </>
  );
}

function InvitationLink({ invitation }: { invitation: Invitation | undefined }) {
  if (invitation === undefined || invitation.link === null) return null;
  return (
    <Notice variant="success">
      <SecretValue key={invitation.id} label={`Invitation link for ${invitation.email}`} value={invitation.link} />
      <p className="mt-2">
        Send it to the user. They join as {invitation.role} when they sign in with this email address and accept.
      </p>
    </Notice>
  );
}

interface InvitationRowProps {
  invitation: Invitation;
  onShowLink: () => void;
}

function InvitationRow({ invitation: { id, email, role, expiresAt, link }, onShowLink }: InvitationRowProps) {
  const { refresh } = useInvitations();
  const cancel = useMutation({
    mutationFn: () => callIdentity("/organization/cancel-invitation", { invitationId: id }),
    onSuccess: refresh,
  });
  return (
    <Row>
      <Cell>
        {email}
        <ErrorNotice error={cancel.error} />
      </Cell>
      <Cell>{role}</Cell>
      <Cell>
        {link === null && "Expired "}
        <Timestamp at={expiresAt} />
      </Cell>
      <Cell>
        <div className="flex flex-wrap gap-2">
          {link !== null && (
            <Button aria-label={`Show link for ${email}`} onClick={onShowLink}>
              Show link
            </Button>
          )}
          <ConfirmButton
            label="Cancel invitation"
            accessibleLabel={`Cancel invitation for ${email}`}
            question={`Cancel the invitation for ${email}?`}
            busy={cancel.isPending}
            onConfirm={() => cancel.mutate()}
          >
            The link stops working.
          </ConfirmButton>
        </div>
      </Cell>
    </Row>
  );
}

/** The organization of the page, the role of the user, and a function that reloads its invitations. */
function useInvitations() {
  const client = useQueryClient();
  const { id: organizationId, role } = useOrganization();
  const refresh = () => client.invalidateQueries({ queryKey: [INVITATIONS, organizationId] });
  return { organizationId, role, refresh };
}
