import type { SubmitEvent } from "react";

/** Passes the fields of a form to a mutation, and empties the form when it has succeeded. */
export function submitForm(
  event: SubmitEvent<HTMLFormElement>,
  mutate: (form: FormData, options: { onSuccess: () => void }) => void,
): void {
  event.preventDefault();
  const form = event.currentTarget;
  mutate(new FormData(form), { onSuccess: () => form.reset() });
}
