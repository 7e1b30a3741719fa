import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { callIdentity } from "../../api.ts";
import { sessionQuery } from "../../session-query.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { describeBrowser } from "./describe-browser.ts";

interface UserSession {
  id: string;
  token: string;
  createdAt: string;
  expiresAt: string;
  ipAddress: string | null;
  userAgent: string | null;
}

const SESSIONS = "sessions-of-user";

/** The browsers in which the user is signed in. */
export function SessionsPanel() {
  const own = useQuery(sessionQuery);
  const sessions = useQuery({
    queryKey: [SESSIONS],
    queryFn: () => callIdentity<UserSession[]>("/list-sessions"),
    select: (list) => list.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)),
  });
  const ownId = own.data?.session.id;
  return (
    <Panel title="Sessions" intro="The browsers in which you are signed in.">
      <QueryContent query={sessions}>
        {(list) => (
          <>
            <Table caption="Sessions" columns={["Browser", "Address", "Signed in", "Expiry", "Actions"]}>
              {list.map((session) => (
                <SessionRow key={session.id} session={session} isOwn={session.id === ownId} />
              ))}
            </Table>
            {list.length > 1 && <EndOthers />}
          </>
        )}
      </QueryContent>
    </Panel>
  );
}

function SessionRow({ session, isOwn }: { session: UserSession; isOwn: boolean }) {
  const { token, createdAt, expiresAt, ipAddress, userAgent } = session;
  const end = useEndSessions("/revoke-session", { token });
  const browser = describeBrowser(userAgent ?? "");
  return (
    <Row>
      <Cell>
        {browser}
        <ErrorNotice error={end.error} />
      </Cell>
      <Cell>{ipAddress ?? ""}</Cell>
      <Cell>
        <Timestamp at={createdAt} />
      </Cell>
      <Cell>
        <Timestamp at={expiresAt} />
      </Cell>
      <Cell>
        {isOwn ? (
          "this session"
        ) : (
          <Button aria-label={`Sign out ${browser}`} busy={end.isPending} onClick={() => end.mutate()}>
            Sign out
          </Button>
        )}
      </Cell>
    </Row>
  );
}

function EndOthers() {
  const end = useEndSessions("/revoke-other-sessions", {});
  return (
    <>
      <ConfirmButton
        label="Sign out everywhere else"
        question="Sign out everywhere else?"
        busy={end.isPending}
        danger={false}
        onConfirm={() => end.mutate()}
      >
        All other browsers are signed out. Tokens and connected clients keep their access.
      </ConfirmButton>
      <ErrorNotice error={end.error} />
    </>
  );
}

function useEndSessions(path: "/revoke-session" | "/revoke-other-sessions", body: object) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => callIdentity(path, body),
    onSuccess: () => client.invalidateQueries({ queryKey: [SESSIONS] }),
  });
}
