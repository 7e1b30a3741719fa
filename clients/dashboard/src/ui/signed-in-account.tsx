import { useQuery } from "@tanstack/react-query";
import { getSession } from "../api.ts";
import { ErrorNotice } from "./notice.tsx";

/** Names the account that is signed in. */
export function SignedInAccount() {
  const { data: session, error } = useQuery({ queryKey: ["session"], queryFn: getSession });
  if (session === undefined || session === null) return <ErrorNotice error={error} />;
  const { name, email } = session.user;
  return (
    <p className="break-words">
      You are signed in as <bdi>{name}</bdi> (<strong>{email}</strong>).
    </p>
  );
}
