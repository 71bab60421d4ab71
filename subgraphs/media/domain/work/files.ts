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

/** Every file of the work, in order. */
export function listWorkFiles<File>(work: StepInput<File>): readonly WorkFile<File>[] {
  return readFiles(work, findRules(work).files);
}

type Rules = Readonly<Record<string, FileRule>>;
type Inputs = Readonly<Record<string, unknown>>;

function readFiles<File>(work: StepInput<File>, rules: Rules): readonly WorkFile<File>[] {
  const inputs = work as unknown as Inputs;
  return Object.entries(rules).flatMap(([input, { kind, field = input, holds }]) => {
    const value = inputs[input];
    if (value === undefined) return [];
    if (holds === undefined) return [{ file: value as File, kind, input, field }];
    return Object.entries(value as Readonly<Record<string, File>>).map(([name, file]) => {
      const key = holds === 'list' ? Number(name) : name;
      return { file, kind, input, key, field };
    });
  });
}

/** Work taken apart. */
export interface WorkParts<File> {
  readonly kind: StepKind;
  /** The inputs that are no files. */
  readonly inputs: Inputs;
  /** The inputs that could hold files and have none, such as an empty list: stored work keeps them. */
  readonly empty: Inputs;
  /** In order. */
  readonly files: readonly WorkFile<File>[];
}

/** Takes work apart. */
export function splitWork<File>(work: StepInput<File>): WorkParts<File> {
  const rules: Rules = findRules(work).files;
  const files = readFiles(work, rules);
  const { kind, ...given } = work;
  const filled = new Set(files.map(({ input }) => input));
  const others = Object.entries(given).filter(([name]) => !filled.has(name));
  return {
    kind,
    inputs: Object.fromEntries(others.filter(([name]) => !Object.hasOwn(rules, name))),
    empty: Object.fromEntries(others.filter(([name]) => Object.hasOwn(rules, name))),
    files,
  };
}

/** The same places with other files, one for each. */
export function placeFiles<To>(places: readonly WorkFile<unknown>[], files: readonly To[]): WorkFile<To>[] {
  return places.map((place, index) => ({ ...place, file: files[index] as To }));
}

/** Puts together what `splitWork` took apart. */
export function joinWork<File>({ kind, inputs, empty, files }: WorkParts<File>): StepInput<File> {
  const filled = [...Map.groupBy(files, ({ input }) => input)].map(
    ([input, entries]) => [input, restoreValue(entries)] as const,
  );
  return { kind, ...inputs, ...empty, ...Object.fromEntries(filled) } as unknown as StepInput<File>;
}

function restoreValue(entries: readonly WorkFile<unknown>[]): unknown {
  const [first] = entries;
  if (first?.key === undefined) return first?.file;
  if (typeof first.key === 'number') return entries.map(({ file }) => file);
  return Object.fromEntries(entries.map(({ key, file }) => [key, file]));
}
