import type { Choice, Values } from '../../../work/work.ts';

/** Options of a form's fields. */
export interface FieldProps {
  readonly choice: Choice;
  readonly member: string;
  readonly values: Values;
  readonly problem: string | undefined;
  readonly onChange: (member: string, value: unknown) => void;
}
