import type { FileKind } from '../inputs/input-files.ts';
import type { FileRule } from './kind.ts';
import { findRules, type StepInput, type StepKind } from './work.ts';

/** The files among the inputs of work, whatever stands for them: what a caller sent, a reference, the file itself. */

/** One file among the inputs. */
export interface WorkFile<File> {
  readonly file: File;
  /** What it must be. */
  readonly kind: FileKind;
  /** Name of the input that holds it. */
  readonly input: string;
  /** Index or name in an input that holds several. */
  readonly key?: string | number;
  /** What refusals call the input. */
  readonly field: string;
}

type Inputs = Readonly<Record<string, unknown>>;

/** Work taken apart. */
export interface WorkParts<File> {
  readonly kind: StepKind;
  /** What is no file. */
  readonly inputs: Inputs;
  /** Lists and names of files that have none: absent is another thing to who reads them. */
  readonly empty: Inputs;
  /** In order. */
  readonly files: readonly WorkFile<File>[];
}

/** Takes work apart. */
export function splitWork<File>(work: StepInput<File>): WorkParts<File> {
  const rules: Readonly<Record<string, FileRule>> = findRules(work).files;
  const { kind, ...given } = work;
  const values: Inputs = given;
  const inputs = Object.entries(values).filter(([name]) => !Object.hasOwn(rules, name));
  const held = Object.entries(rules).map(
    ([input, rule]) => [input, readFiles<File>(input, rule, values[input])] as const,
  );
  const empty = held.filter(([input, files]) => values[input] !== undefined && files.length === 0);
  return {
    kind,
    inputs: Object.fromEntries(inputs),
    empty: Object.fromEntries(empty.map(([input]) => [input, values[input]])),
    files: held.flatMap(([, files]) => files),
  };
}

/** The files of one input; none where it is absent. */
function readFiles<File>(
  input: string,
  { kind, field = input, holds }: FileRule,
  value: unknown,
): readonly WorkFile<File>[] {
  if (value === undefined) return [];
  if (holds === undefined) return [{ file: value as File, kind, input, field }];
  return Object.entries(value as Readonly<Record<string, File>>).map(([name, file]) => {
    const key = holds === 'list' ? Number(name) : name;
    return { file, kind, input, key, field };
  });
}

/** The same places with other files, one for each. */
export function placeFiles<To>(places: readonly WorkFile<unknown>[], files: readonly To[]): WorkFile<To>[] {
  return files.flatMap((file, index) => {
    const place = places[index];
    return place === undefined ? [] : [{ ...place, file }];
  });
}

/** Puts work together again. */
export function joinWork<File>({ kind, inputs, empty, files }: WorkParts<File>): StepInput<File> {
  const held = [...Map.groupBy(files, ({ input }) => input)].map(
    ([input, entries]) => [input, restoreValue(entries)] as const,
  );
  return { kind, ...inputs, ...empty, ...Object.fromEntries(held) } as unknown as StepInput<File>;
}

function restoreValue(entries: readonly WorkFile<unknown>[]): unknown {
  const [first] = entries;
  if (first?.key === undefined) return first?.file;
  if (typeof first.key === 'number') return entries.map(({ file }) => file);
  return Object.fromEntries(entries.map(({ key, file }) => [key, file]));
}

/** Every file of the work, in order. */
export function listWorkFiles<File>(work: StepInput<File>): readonly WorkFile<File>[] {
  return splitWork(work).files;
}
