import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";
import type { App } from "../../apps-query.ts";
import { AppRow, LIST_CLASS, ROW_HEIGHT } from "./app-row.tsx";
import { useRowKeys } from "./row-keys.ts";

/** A list of any length: only the rows on the screen are in the document. */
export function VirtualAppList({ apps }: { apps: readonly App[] }) {
  const list = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0), []);
  const virtualizer = useWindowVirtualizer({
    count: apps.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: 4,
    scrollMargin: offset,
    getItemKey: (index) => apps[index]?.id ?? index,
  });
  useRowKeys(list, apps.length, (index) => virtualizer.scrollToIndex(index, { align: "auto" }));
  return (
    <ul ref={list} className={LIST_CLASS} style={{ height: virtualizer.getTotalSize() + 2 }}>
      {virtualizer.getVirtualItems().map(({ index, start, key }) => {
        const app = apps[index];
        const style = { position: "absolute", insetInline: 0, top: start - offset } as const;
        return app === undefined ? null : (
          <AppRow key={key} app={app} index={index} count={apps.length} style={style} />
        );
      })}
    </ul>
  );
}
