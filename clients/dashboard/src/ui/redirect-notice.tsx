const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
const ONLY_IF_EXPECTED = "Allow access only if you have just started it.";

/** Says where the browser goes after the decision: to a website, or to a program on the user's device. */
export function RedirectNotice({ redirect }: { redirect: string }) {
  const url = URL.parse(redirect);
  if (url === null) return <p>You will be redirected to an unknown address.</p>;
  if (!/^https?:$/.test(url.protocol))
    return (
      <p>
        Your browser will open the program on this device that handles{" "}
        <strong data-testid="redirect-scheme">{url.protocol}</strong> links. Any program can claim this kind of link.{" "}
        {ONLY_IF_EXPECTED}
      </p>
    );
  return (
    <p>
      You will be redirected to <strong>{url.host}</strong>.
      {LOOPBACK.test(url.host) && ` This is a program on your device. ${ONLY_IF_EXPECTED}`}
    </p>
  );
}
