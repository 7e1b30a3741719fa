import { lazy, Suspense, useRef } from "react";
import type { App } from "../../apps-query.ts";
import { Loading } from "../../ui/loading.tsx";
import { AppRow, LIST_CLASS } from "./app-row.tsx";
import { useRowKeys } from "./row-keys.ts";

/** Longer lists load the code that keeps only the visible rows in the document, a tenth of the code of the page. */
const MAX_ROWS = 200;
const VirtualAppList = lazy(async () => ({ default: (await import("./virtual-app-list.tsx")).VirtualAppList }));

/** A list of apps. The keys j and k move the focus between them. */
export function AppList({ apps }: { apps: readonly App[] }) {
  if (apps.length <= MAX_ROWS) return <ShortList apps={apps} />;
  return (
    <Suspense fallback={<Loading />}>
      <VirtualAppList apps={apps} />
    </Suspense>
  );
}

function ShortList({ apps }: { apps: readonly App[] }) {
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list, apps.length);
  return (
    <ul ref={list} className={LIST_CLASS}>
      {apps.map((app, index) => (
        <AppRow key={app.id} app={app} index={index} count={apps.length} />
      ))}
    </ul>
  );
}
