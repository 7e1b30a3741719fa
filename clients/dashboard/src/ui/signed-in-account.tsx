import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "../session-query.ts";
import { ErrorNotice } from "./notice.tsx";

/** Names the account that is signed in. */
export function SignedInAccount() {
  const { data: session, error } = useQuery(sessionQuery);
  if (session === undefined || session === null) return <ErrorNotice error={error} />;
  const { name, email } = session.user;
  return (
    <p className="break-words">
      You are signed in as <bdi>{name}</bdi> (<strong>{email}</strong>).
    </p>
  );
}
