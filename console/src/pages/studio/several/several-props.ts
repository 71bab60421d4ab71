import type { Run } from '../../../work/batches.ts';
import type { Choice, Values } from '../../../work/work.ts';

/** What the dialog and its tabs are given. */
export interface SeveralProps {
  /** The models of this kind of work. */
  readonly choices: readonly Choice[];
  readonly choice: Choice;
  readonly values: Values;
  readonly onRun: (runs: readonly Run[]) => void;
}
