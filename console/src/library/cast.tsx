import { useEffect, useMemo, useState } from 'react';

import { useCaller } from '../api/caller.ts';
import { client } from '../api/client.ts';
import { CastDocument, CastOfTaskDocument } from '../api/documents/library.ts';
import type { CastPartsFragment, MediaPartsFragment, TaskFilter } from '../api/documents/operations.ts';
import { usePages } from '../api/use-pages.ts';
import { Icon } from '../parts/icons.tsx';
import { t } from '../text/text.ts';
import { useBatches } from '../work/batches.ts';
import { toText } from '../work/work.ts';

/** Characters, avatars and voices that were made, with what shows them. */

/** The kinds of work that make somebody who appears or speaks in later work. */
const CAST_KINDS = ['CHARACTER', 'AVATAR', 'AVATAR_SOURCE', 'VOICE_CLONE'] as const;

/** One of these kinds. */
export type CastKind = (typeof CAST_KINDS)[number];

/** Somebody to choose. */
export interface Member {
  /** What the form takes. */
  readonly id: string;
  readonly kind: CastKind;
  /** Empty where none was given. */
  readonly name: string;
  /** The image, video or recording that it was made of; null when it is not there any more. */
  readonly media: MediaPartsFragment | null;
  readonly generator: string;
  readonly createdAt: string;
}

/** Those that these tasks have made, newest first; an avatar is shown by the video of its source. */
export function listMembers(tasks: readonly CastPartsFragment[]): readonly Member[] {
  const made = tasks.flatMap((task) => readMember(task) ?? []);
  const sources = new Map(
    made.filter(({ kind }) => kind === 'AVATAR_SOURCE').map((one) => [one.id, one.media]),
  );
  const sourceByAvatar = new Map(
    tasks.map((task) => [readId(task.result), toText(readOptions(task)['videoId'])] as const),
  );
  const shown = made.map((one) =>
    one.kind === 'AVATAR' && one.media === null
      ? { ...one, media: sources.get(sourceByAvatar.get(one.id) ?? '') ?? null }
      : one,
  );
  const known = new Set<string>();
  return shown
    .toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1))
    .filter(({ kind, id }) => !known.has(`${kind} ${id}`) && known.add(`${kind} ${id}`) !== undefined);
}

function readMember(task: CastPartsFragment): Member | null {
  const id = readId(task.result);
  const kind = CAST_KINDS.find((one) => one === task.kind);
  if (id === null || kind === undefined) return null;
  const files = (task.input?.files ?? []).flatMap(({ media }) => media ?? []);
  const given = toText(readOptions(task)['name']);
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

function readOptions({ input }: CastPartsFragment): Readonly<Record<string, unknown>> {
  return (input?.options ?? {}) as Readonly<Record<string, unknown>>;
}

function readId(result: CastPartsFragment['result']): string | null {
  if (result === null) return null;
  if ('voice' in result) return result.voice.id;
  if ('characterId' in result) return result.characterId;
  if ('digitalId' in result) return result.digitalId;
  return 'videoId' in result ? result.videoId : null;
}

/** What somebody is called: their name, else what they are. */
export function nameMember({ name, kind }: Pick<Member, 'name' | 'kind'>): string {
  return name === '' ? t(`kind.${kind}`) : name;
}

/** What somebody looks like from afar: their image, the first one of their video, else a sign. */
export function MemberImage({ member }: { readonly member: Member }) {
  const { media, kind } = member;
  const src = media?.thumbnail ?? null;
  const isSound = media?.contentType.startsWith('audio/') === true;
  if (src !== null && !isSound)
    return <img className="h-full w-full object-cover" src={src} alt="" loading="lazy" decoding="async" />;
  return <Icon name={kind === 'VOICE_CLONE' ? 'speech' : 'avatar'} size={20} />;
}

/** Most tasks of this browser that are looked at for a visitor. */
const MOST = 50;
const PAGE = 100;

/** The caller's own characters, avatars and voices; of a visitor those that this browser has started. */
export function useCast() {
  const caller = useCaller();
  const isKnown = caller !== undefined && caller.kind !== 'ANONYMOUS';
  const filter = useMemo(
    (): TaskFilter => ({ kinds: [...CAST_KINDS], states: ['SUCCEEDED'], owner: caller?.id ?? '' }),
    [caller?.id],
  );
  const { list, edges, error, isLoading, more } = usePages(CastDocument, 'tasks', {
    variables: { filter, first: PAGE },
    skip: !isKnown,
  });
  const { tasks: own, problem } = useVisitorsTasks(caller !== undefined && !isKnown);
  const tasks = useMemo(() => (isKnown ? edges.map(({ node }) => node) : (own ?? [])), [isKnown, edges, own]);
  return {
    members: useMemo(() => listMembers(tasks), [tasks]),
    isLoading: isKnown ? isLoading && list === undefined : own === undefined,
    /** Loads those made before; null when all are there. */
    more,
    error: isKnown ? error : problem,
  };
}

/** The tasks of this browser that are there, and why others can't be asked for. */
function useVisitorsTasks(isWanted: boolean) {
  const [problem, setProblem] = useState<unknown>(undefined);
  const [tasks, setTasks] = useState<readonly CastPartsFragment[] | undefined>(undefined);
  const batches = useBatches();
  const ids = batches
    .filter(({ kind }) => (CAST_KINDS as readonly string[]).includes(kind))
    .flatMap((batch) => batch.tasks)
    .slice(0, MOST)
    .join(' ');
  useEffect(() => {
    if (!isWanted) return undefined;
    let isStale = false;
    const wanted = ids.split(' ').filter((id) => id !== '');
    const load = async (id: string) =>
      (await client.query({ query: CastOfTaskDocument, variables: { id } })).data?.task ?? null;
    void Promise.allSettled(wanted.map(load)).then((answers) => {
      if (isStale) return;
      const found = answers.map((one) => (one.status === 'fulfilled' ? one.value : null));
      setTasks(found.filter((task) => task !== null));
      setProblem(answers.find((one) => one.status === 'rejected')?.reason);
    });
    return () => {
      isStale = true;
    };
  }, [isWanted, ids]);
  return { tasks, problem };
}
