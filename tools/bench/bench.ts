import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import type { Load } from './load/load.ts';

/** What a bench is, and what it finds. Here belong words only; each bench has its own folder. */

export interface Bench {
  /** Its word on the command line. */
  readonly name: string;
  /** Measures; whatever it starts is in the tools's lifecycle, to be stopped when it is over. */
  run(tools: BenchTools): Promise<readonly Figure[]>;
}

/** What every bench works with; made anew for each. */
export interface BenchTools {
  readonly lifecycle: Lifecycle;
  /** The load generator, a process of its own. */
  readonly load: Load;
  /** How many times each subject is measured, in turns. */
  readonly rounds: number;
  /** Milliseconds of one measurement. */
  readonly runMs: number;
  /** Tells the one at the terminal what is going on. */
  say(line: string): void;
}

/** One line of the table. */
export interface Figure {
  readonly what: string;
  readonly ours: string;
  /** What it is held against; empty when there is none. */
  readonly baseline: string;
  /** Ours as a multiple of the baseline, and the least it shall be (with `atMost`, the most); null when nothing was promised. */
  readonly ratio: { readonly value: number; readonly target: number; readonly atMost?: boolean } | null;
  /** Whatever else a reader should know. */
  readonly note: string;
}
