import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";

/** Ends a transfer, and receives how much was transferred. */
export interface TransferControl {
  signal: AbortSignal;
  onProgress: (bytes: number) => void;
}

/** Runs a transfer of a large file that the user can cancel. A canceled one is no error. */
export function useTransfer<Input, Result>(
  transfer: (input: Input, control: TransferControl) => Promise<Result>,
  onSuccess: (result: Result) => void | Promise<void>,
) {
  const [bytes, setBytes] = useState(0);
  const controller = useRef<AbortController>(null);
  const { mutate, isPending, error } = useMutation({
    mutationFn: async (input: Input) => {
      const { signal } = (controller.current = new AbortController());
      setBytes(0);
      try {
        return { result: await transfer(input, { signal, onProgress: setBytes }) };
      } catch (failure) {
        if (signal.aborted) return null;
        throw failure;
      }
    },
    onSuccess: (done) => (done === null ? undefined : onSuccess(done.result)),
  });
  return { start: mutate, isPending, error, bytes, cancel: () => controller.current?.abort() };
}
