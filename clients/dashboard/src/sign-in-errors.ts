const STALE_SIGN_IN = "This sign-in was started in another window, or too long ago. Try again.";

/** The messages for the error codes with which a sign-in at a provider returns to this page. */
const MESSAGES: Record<string, string> = {
  SIGN_UP_REFUSED: "You have no account here and need an invitation to sign up. Ask the operator of this service.",
  account_not_linked: "An account with your email address exists, with another sign-in method. Use that method.",
  access_denied: "You declined access at the provider. You are not signed in.",
  email_not_found: "The provider returned no email address. Add one to your account there, then try again.",
  state_mismatch: STALE_SIGN_IN,
  state_not_found: STALE_SIGN_IN,
};

/** The message for the error code in the URL; `null` without an error. No other text of the URL is shown. */
export function readSignInError(): string | null {
  const code = new URLSearchParams(location.search).get("error");
  if (code === null) return null;
  const message = Object.hasOwn(MESSAGES, code) ? MESSAGES[code] : undefined;
  return message ?? `Sign-in failed (${code.replaceAll(/[^\w-]/g, "").slice(0, 64)}). Try again.`;
}
