import { ServiceError } from "../shared/errors.ts";

export interface VariableView {
  name: string;
  /** `null` for a secret, and for a value that cannot be decrypted. */
  value: string | null;
  secret: boolean;
  build: boolean;
  created_at: string;
  updated_at: string;
}

/** The same error for a variable that never existed and for one that is deleted. */
export function variableNotFound(): ServiceError {
  return new ServiceError("not_found", "Variable not found");
}
