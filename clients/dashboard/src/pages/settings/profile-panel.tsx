import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { callIdentity } from "../../api.ts";
import { sessionQuery } from "../../session-query.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { Field, readText } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";

/** The name and the address of the user. Members of their organizations see both. */
export function ProfilePanel() {
  const session = useQuery(sessionQuery);
  return (
    <Panel title="Profile" intro="Members of your organizations see your name and your email address.">
      <QueryContent query={session}>{(data) => data !== null && <ProfileForm user={data.user} />}</QueryContent>
    </Panel>
  );
}

function ProfileForm({ user: { name, email } }: { user: { name: string; email: string } }) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (form: FormData) => callIdentity("/update-user", { name: readText(form, "name") }),
    onSuccess: async () => {
      await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
      showToast("Name changed");
    },
  });
  return (
    <form
      className="max-w-sm space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(new FormData(event.currentTarget));
      }}
    >
      <Field label="Your name" name="name" defaultValue={name} required maxLength={100} autoComplete="name" />
      <p className="text-sm wrap-anywhere text-muted">{email}</p>
      <ErrorNotice error={change.error} />
      <Button type="submit" busy={change.isPending}>
        Change name
      </Button>
    </form>
  );
}
