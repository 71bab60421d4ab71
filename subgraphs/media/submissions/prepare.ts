import type { Caller } from '../../../platform/access/caller.ts';
import { badInput } from '../../../platform/errors.ts';
import type { FileKind } from '../domain/inputs/file-kinds.ts';
import type { Work } from '../domain/task.ts';
import type { Submission } from '../tasks/rules/task-service.ts';
import {
  resolveInputs,
  type InputFile,
  type InputFileDependencies,
  type NamedInput,
} from './resolve-inputs.ts';
import type { MediaInput } from './submissions.ts';

/** What every kind of submission shares: its files resolved by name, its fingerprint. */

/** Work with its files resolved: what tasks/ needs but for the caller's idempotency key. */
export type Prepared = Pick<Submission, 'work' | 'fileIds' | 'fingerprint'>;

/** Who asks, and whether they still wait. */
export interface Asker {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** The given ones of some single inputs, by their names. All are checked before the first upload is read. */
export async function resolveNamed<Name extends string>(
  dependencies: InputFileDependencies,
  asker: Asker,
  given: Readonly<Record<Name, MediaInput | null | undefined>>,
  /** What they must be; absent ones may be anything. */
  kinds: Readonly<Record<string, FileKind | undefined>> = {},
): Promise<Partial<Record<Name, InputFile>>> {
  const entries = Object.entries<MediaInput | null | undefined>(given);
  const inputs = entries.flatMap(([field, input]): NamedInput[] =>
    input ? [{ field, input, kind: kinds[field] }] : [],
  );
  const files = await resolveInputs(dependencies, { ...asker, inputs });
  return Object.fromEntries(inputs.map(({ field }, index) => [field, files[index]])) as Partial<
    Record<Name, InputFile>
  >;
}

/** The refs of resolved files under their names; absent ones are left out. */
export function refsOf<Name extends string>(
  files: Partial<Record<Name, InputFile>>,
): { readonly [Key in Name]?: InputFile['ref'] } {
  const entries = Object.entries<InputFile | undefined>(files);
  return Object.fromEntries(entries.flatMap(([name, file]) => (file ? [[name, file.ref]] : []))) as {
    readonly [Key in Name]?: InputFile['ref'];
  };
}

/** The fingerprint: the operation and what was asked, files by their content, so that a repeated upload is the same. */
export function prepared(
  operation: string,
  work: Work,
  asked: object,
  files: readonly InputFile[],
): Prepared {
  return {
    work,
    fileIds: files.flatMap(({ ref }) => ('fileId' in ref ? [ref.fileId] : [])),
    fingerprint: { operation, ...asked, files: files.map(({ identity }) => identity) },
  };
}

/** As `prepared`, for files whose places matter: the fingerprint says which file stands where. */
export function preparedNamed(
  operation: string,
  work: Work,
  asked: object,
  files: Readonly<Record<string, InputFile | undefined>>,
): Prepared {
  const given = Object.entries(files).flatMap(([name, file]) => (file ? [{ name, file }] : []));
  const places = given.map(({ name }) => name);
  return prepared(
    operation,
    work,
    { ...asked, places },
    given.map(({ file }) => file),
  );
}

type Given<Shape> = { [Name in keyof Shape]?: NonNullable<Shape[Name]> };

/** Only the members that have a value: null and absent are the same in an input. */
export function withoutAbsent<Shape extends object>(shape: Shape): Given<Shape> {
  return Object.fromEntries(
    Object.entries(shape).filter(([, value]) => value !== null && value !== undefined),
  ) as Given<Shape>;
}

/** Refuses a text that is there and says nothing. */
export function notEmpty(field: string, text: string): void {
  if (text.trim() === '') throw badInput(field, `${field} must not be empty`);
}

/** Refuses inputs of which not exactly one is given; the first one's name is the field at fault. An empty text is none. */
export function exactlyOne(given: Readonly<Record<string, unknown>>): void {
  const [first = '', ...others] = Object.keys(given);
  const found = Object.values(given).filter((value) => value !== null && value !== undefined && value !== '');
  if (found.length === 1) return;
  throw badInput(first, `${first} or ${others.join(' or ')}: exactly one of them is needed`);
}

/** A caller's word within a message, cut. */
export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
