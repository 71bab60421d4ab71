import type { CastPartsFragment, MediaPartsFragment } from '../../api/documents/operations.ts';
import { textOf } from '../../work/work.ts';

/** Characters, avatars and voices that were made, with what shows them. Pure. */

/** The kinds of work that make somebody who appears or speaks in later work. */
export const CAST_KINDS = ['CHARACTER', 'AVATAR', 'AVATAR_SOURCE', 'VOICE_CLONE'] as const;

/** One of these kinds. */
export type CastKind = (typeof CAST_KINDS)[number];

/** Somebody to choose. */
export interface Member {
  /** What the form takes. */
  readonly id: string;
  readonly kind: CastKind;
  /** Empty where none was given. */
  readonly name: string;
  /** The picture, video or recording that it was made of; null when it is not there any more. */
  readonly media: MediaPartsFragment | null;
  readonly generator: string;
  readonly createdAt: string;
}

/** Those that these tasks have made, newest first; an avatar is shown by the video of its source. */
export function membersOf(tasks: readonly CastPartsFragment[]): readonly Member[] {
  const made = tasks.flatMap((task) => memberOf(task) ?? []);
  const sources = new Map(
    made.filter(({ kind }) => kind === 'AVATAR_SOURCE').map((one) => [one.id, one.media]),
  );
  const sourceOf = new Map(
    tasks.map((task) => [idOf(task.result), textOf(optionsOf(task)['videoId'])] as const),
  );
  const shown = made.map((one) =>
    one.kind === 'AVATAR' && one.media === null
      ? { ...one, media: sources.get(sourceOf.get(one.id) ?? '') ?? null }
      : one,
  );
  const known = new Set<string>();
  return shown
    .toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1))
    .filter(({ kind, id }) => !known.has(`${kind} ${id}`) && known.add(`${kind} ${id}`) !== undefined);
}

function memberOf(task: CastPartsFragment): Member | null {
  const id = idOf(task.result);
  const kind = CAST_KINDS.find((one) => one === task.kind);
  if (id === null || kind === undefined) return null;
  const files = (task.input?.files ?? []).flatMap(({ media }) => media ?? []);
  const given = textOf(optionsOf(task)['name']);
  const said = task.result !== null && 'voice' in task.result ? task.result.voice.name : '';
  return {
    id,
    kind,
    name: given === '' ? said : given,
    media: files[0] ?? null,
    generator: task.generator,
    createdAt: task.createdAt,
  };
}

function optionsOf({ input }: CastPartsFragment): Readonly<Record<string, unknown>> {
  return (input?.options ?? {}) as Readonly<Record<string, unknown>>;
}

function idOf(result: CastPartsFragment['result']): string | null {
  if (result === null) return null;
  if ('voice' in result) return result.voice.id;
  if ('characterId' in result) return result.characterId;
  if ('digitalId' in result) return result.digitalId;
  return 'videoId' in result ? result.videoId : null;
}
