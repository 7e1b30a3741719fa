import { FileUp, FolderUp } from "lucide-react";
import { type InputHTMLAttributes, type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";
import { showToast } from "../show-toast.ts";
import { Button } from "./button.tsx";

interface DropZoneProps<Choice> {
  text: string;
  /** The picker of files, beside the one of a folder. */
  files: { label: string; button: string; accept: string; multiple: boolean };
  /** Reads what was dropped or chosen. Called during the event. */
  read: { dropped: (data: DataTransfer) => Promise<Choice>; chosen: (files: FileList) => Promise<Choice> };
  onChoice: (choice: Choice) => void;
}

/** Takes files and folders that are dropped anywhere on the page, or chosen with its buttons. */
export function DropZone<Choice>({ text, files, read, onChoice }: DropZoneProps<Choice>) {
  const choose = (reading: Promise<Choice>): void => {
    reading.then(onChoice, () =>
      showToast("The browser cannot read these files", "They may have been moved or changed. Choose them again."),
    );
  };
  const isOver = useWindowDrop((data) => choose(read.dropped(data)));
  const onFiles = (list: FileList): void => choose(read.chosen(list));
  const { button, ...picker } = files;
  return (
    <div
      data-testid="drop-zone"
      className={`flex flex-col items-center gap-3 rounded-md border border-dashed px-4 py-6 text-center ${isOver ? "border-accent bg-hover" : "border-line-strong bg-sunken"}`}
    >
      <p className="text-sm text-muted">{text}</p>
      <div className="flex flex-wrap justify-center gap-2">
        <FilePicker {...picker} onFiles={onFiles}>
          <FileUp aria-hidden className="size-4" />
          {button}
        </FilePicker>
        <FilePicker label="Folder" multiple onFiles={onFiles} {...{ webkitdirectory: "" }}>
          <FolderUp aria-hidden className="size-4" />
          Choose a folder
        </FilePicker>
      </div>
    </div>
  );
}

/**
 * Takes what is dropped anywhere on the page: beside a small zone, the browser would open the file instead of the page.
 * Returns whether files are dragged over the page.
 */
function useWindowDrop(onDrop: (data: DataTransfer) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useEffectEvent(onDrop);
  useEffect(() => {
    const listeners = new AbortController();
    const { signal } = listeners;
    const drag = (event: DragEvent): void => {
      // Not a text that is dragged into a field.
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      setOver(false);
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      take(event.dataTransfer);
    };
    addEventListener("dragover", drag, { signal });
    addEventListener("dragleave", leave, { signal });
    addEventListener("drop", drop, { signal });
    return () => listeners.abort();
  }, []);
  return isOver;
}

interface FilePickerProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  onFiles: (files: FileList) => void;
  children: ReactNode;
}

/** A button that opens a file picker. */
export function FilePicker({ label, onFiles, children, ...rest }: FilePickerProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button onClick={() => input.current?.click()}>{children}</Button>
      <input
        ref={input}
        {...rest}
        type="file"
        hidden
        aria-label={label}
        onChange={({ currentTarget }) => {
          // The list is read at once, because it is emptied below.
          if (currentTarget.files !== null) onFiles(currentTarget.files);
          // The same files can be chosen again.
          currentTarget.value = "";
        }}
      />
    </>
  );
}
