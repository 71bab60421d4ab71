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

/** Work taken apart: its kind, its files in order, and its other inputs. */
export interface WorkParts<File> {
  readonly kind: StepKind;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly files: readonly WorkFile<File>[];
}

/** Takes work apart. */
export function splitWork<File>(work: StepInput<File>): WorkParts<File> {
  const rules: Readonly<Record<string, FileRule>> = findRules(work).files;
  const { kind, ...all } = work;
  const given: Readonly<Record<string, unknown>> = all;
  return {
    kind,
    inputs: Object.fromEntries(Object.entries(given).filter(([name]) => !Object.hasOwn(rules, name))),
    files: Object.entries(rules).flatMap(([input, rule]) => readFiles<File>(input, rule, given[input])),
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
export function joinWork<File>({ kind, inputs, files }: WorkParts<File>): StepInput<File> {
  const held = [...Map.groupBy(files, ({ input }) => input)].map(
    ([input, entries]) => [input, restoreValue(entries)] as const,
  );
  return { kind, ...inputs, ...Object.fromEntries(held) } as unknown as StepInput<File>;
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
