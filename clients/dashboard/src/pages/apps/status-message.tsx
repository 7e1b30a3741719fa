interface Props {
  /** Why the deployment failed. */
  error: string | null;
  /** The current step, or what to do about the failure. */
  message: string | null;
}

/** What the service says about the newest deployment of an app; nothing if it says nothing. */
export function StatusMessage({ error, message }: Props) {
  if (error === null && message === null) return null;
  const style = error === null ? "border-line bg-sunken" : "border-danger/40 bg-danger-soft text-danger";
  return (
    <div role="status" className={`space-y-1 rounded-md border px-3 py-2 text-sm wrap-anywhere ${style}`}>
      {error !== null && <p className="font-medium whitespace-pre-wrap">{error}</p>}
      {message !== null && <p className="whitespace-pre-wrap">{message}</p>}
    </div>
  );
}
