import type { FileKind } from '../inputs/input-files.ts';
import type { FileRule } from './kind.ts';
import { findRules, type StepInput } from './work.ts';

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
  const inputs = work as unknown as Readonly<Record<string, unknown>>;
  const rules: readonly (readonly [string, FileRule])[] = Object.entries(findRules(work).files);
  return rules.flatMap(([input, { kind, field = input, holds }]) => {
    const value = inputs[input];
    if (value === undefined) return [];
    if (holds === undefined) return [{ file: value as File, kind, input, field }];
    return Object.entries(value as Readonly<Record<string, File>>).map(([name, file]) => {
      const key = holds === 'list' ? Number(name) : name;
      return { file, kind, input, key, field };
    });
  });
}

/** The same work with other files, in the order of `listWorkFiles`. */
export function withFiles<From, To>(work: StepInput<From>, files: readonly To[]): StepInput<To> {
  const replaced = listWorkFiles(work).map((entry, index) => ({ ...entry, file: files[index] }));
  const inputs = [...Map.groupBy(replaced, ({ input }) => input)].map(
    ([input, entries]) => [input, restoreValue(entries)] as const,
  );
  return { ...work, ...Object.fromEntries(inputs) } as unknown as StepInput<To>;
}

function restoreValue(entries: readonly WorkFile<unknown>[]): unknown {
  const [first] = entries;
  if (first?.key === undefined) return first?.file;
  if (typeof first.key === 'number') return entries.map(({ file }) => file);
  return Object.fromEntries(entries.map(({ key, file }) => [key, file]));
}

/** The inputs of the work that are no files. */
export function plainInputs(work: StepInput<unknown>): object {
  const { files } = findRules(work);
  return Object.fromEntries(
    Object.entries(work).filter(([name]) => name !== 'kind' && !Object.hasOwn(files, name)),
  );
}
