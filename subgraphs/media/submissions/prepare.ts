import type { Caller } from '../../../platform/access/caller.ts';
import { checkedOptions } from '../domain/inputs/vendor-options/check.ts';
import { joinWork, placeFiles, splitWork, type WorkFile } from '../domain/work/files.ts';
import { findRules, type StepInput, type StepKind, type Work } from '../domain/work/work.ts';
import type { ResourceOwners } from '../resource-ownership/owners.ts';
import type { Submission } from '../tasks/rules/task-service.ts';
import { resolveInputs, type InputDependencies, type ResolvedInput } from './resolve-inputs.ts';
import type { MediaInput, PlainKind, RequestFor } from './submissions.ts';

/** Work with its files resolved: what tasks/ needs but for the caller's idempotency key. */
export type Prepared = Pick<Submission, 'work' | 'fileIds' | 'fingerprint'>;

/** The caller of a request, and whether they still wait. */
export interface Requester {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** What preparing needs, the default voice included. */
export interface PrepareDependencies extends InputDependencies {
  /** The voice that speaks when none is named. Throws what reading the list of voices throws. */
  readonly firstVoice: () => Promise<string>;
  readonly owners: Pick<ResourceOwners, 'check'>;
}

/** Checks the inputs of one kind of work and resolves its files. Throws BAD_USER_INPUT. */
export async function prepareKind<Kind extends PlainKind>(
  dependencies: PrepareDependencies,
  requester: Requester,
  { kind, request }: { readonly kind: Kind; readonly request: RequestFor<Kind> },
): Promise<Prepared> {
  const rules = findRules<MediaInput>({ kind });
  const { generator } = rules;
  const options = checkedOptions(request.options);
  const sent: unknown = { kind, ...(generator && { generator }), ...withoutAbsent({ ...request, options }) };
  const work = sent as StepInput<MediaInput>;
  await dependencies.owners.check(requester.caller, work);
  return prepare(dependencies, requester, rules.normalize?.(work) ?? work);
}

/** Resolves the files of work that was checked; `findField` names each as the caller wrote it. */
export async function prepare(
  dependencies: PrepareDependencies,
  requester: Requester,
  work: StepInput<MediaInput>,
  findField: (file: WorkFile<MediaInput>) => string = usualField,
): Promise<Prepared> {
  const { mutation, namesFiles } = findRules(work);
  const { kind, inputs, empty, files } = splitWork(work);
  const named = files.map((file) => ({ input: file.file, kind: file.kind, field: findField(file) }));
  const resolved = await resolveInputs(dependencies, { ...requester, inputs: named });
  const placed = nameFace(kind, placeFiles(files, resolved));
  const refs = resolved.map(({ ref }) => ref);
  const stored = joinWork({ kind, inputs, empty, files: placeFiles(placed, refs) });
  return prepared({
    operation: mutation,
    work: await withVoice(dependencies, stored),
    request: {
      ...inputs,
      ...(namesFiles && { places: placed.map(({ key, input }) => key ?? input) }),
    },
    files: resolved,
  });
}

function usualField({ field, key }: WorkFile<MediaInput>): string {
  return key === undefined ? field : `${field}[${key}]`;
}

/** The face as `video` or `image` by what its file is: a caller who sends an id may not know that. */
function nameFace(
  kind: StepKind,
  files: readonly WorkFile<ResolvedInput>[],
): readonly WorkFile<ResolvedInput>[] {
  if (kind !== 'LIP_SYNC') return files;
  return files.map((entry) => {
    const { contentType } = entry.file;
    if (entry.kind !== 'imageOrVideo' || contentType === null) return entry;
    return { ...entry, input: contentType.startsWith('video/') ? 'video' : 'image' };
  });
}

/** A text that an avatar says needs a voice. */
async function withVoice({ firstVoice }: PrepareDependencies, work: StepInput): Promise<StepInput> {
  const needsVoice = work.kind === 'AVATAR_VIDEO' && !work.audio && !work.voiceId;
  return needsVoice ? { ...work, voiceId: await firstVoice() } : work;
}

/** The fingerprint: the operation and its inputs, files by their content, so that a repeated upload is the same. */
export function prepared(parts: {
  readonly operation: string;
  readonly work: Work;
  /** What was requested, besides its files. */
  readonly request: object;
  readonly files: readonly ResolvedInput[];
}): Prepared {
  const { operation, work, request, files } = parts;
  return {
    work,
    fileIds: files.flatMap(({ ref }) => ('fileId' in ref ? [ref.fileId] : [])),
    fingerprint: { operation, ...request, files: files.map(({ identity }) => identity) },
  };
}

type WithoutAbsent<Shape> = { [Name in keyof Shape]?: NonNullable<Shape[Name]> };

/** Only the members that have a value: null and absent are the same in an input. */
export function withoutAbsent<Shape extends object>(shape: Shape): WithoutAbsent<Shape> {
  return Object.fromEntries(
    Object.entries(shape).filter(([, value]) => value !== null && value !== undefined),
  ) as WithoutAbsent<Shape>;
}
