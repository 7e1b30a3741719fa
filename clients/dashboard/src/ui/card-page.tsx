import { type ReactNode, useEffect } from "react";

/** A page for a single task, in the center of the window. */
export function CardPage({ title, children }: { title: string; children: ReactNode }) {
  useTitle(title);
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center px-4 py-10">
      <div className="space-y-6 rounded-xl border border-line bg-surface p-5 sm:p-8 shadow-sm">
        <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
        {children}
      </div>
    </main>
  );
}

/** Sets the title of the browser window. Screen readers read it when the page changes. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · App Provisioning Service`;
  }, [title]);
}
