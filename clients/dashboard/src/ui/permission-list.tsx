/** A list of permissions; nothing without any. */
export function PermissionList({ title, permissions }: { title: string; permissions: string[] }) {
  if (permissions.length === 0) return null;
  return (
    <div className="space-y-1 text-sm">
      <p>{title}</p>
      <ul className="list-disc space-y-1 pl-5">
        {permissions.map((permission) => (
          <li key={permission}>{permission}</li>
        ))}
      </ul>
    </div>
  );
}
