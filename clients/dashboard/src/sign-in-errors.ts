/** What the codes mean with which the service sends somebody back who went to sign in at a provider. */
const MEANINGS: Record<string, string> = {
  SIGN_UP_REFUSED: "You have no account here, and may not make one. Ask whoever runs this service for an invitation.",
  account_not_linked:
    "There is an account with your address already, but it is opened in another way. Sign in as you did before.",
  access_denied: "You did not agree at the provider, so nobody was signed in.",
  email_not_found: "The provider named no address of yours. Give your account there one, then try again.",
  state_mismatch: "That sign-in began in another window, or too long ago. Try again.",
  state_not_found: "That sign-in began in another window, or too long ago. Try again.",
};

/** What went wrong on the way back to this page; `null` when nothing did. Never the words of the address itself. */
export function signInProblem(): string | null {
  const code = new URLSearchParams(location.search).get("error");
  if (code === null) return null;
  const known = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined;
  return known ?? `That did not work (${code.replaceAll(/[^\w-]/g, "").slice(0, 64)}). Try again.`;
}
