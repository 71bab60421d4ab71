import { useQuery } from '@apollo/client/react';
import { useState, type DragEvent } from 'react';

import { useIsSignedIn } from '../../../api/caller.ts';
import { client } from '../../../api/client.ts';
import {
  AddToBoardDocument,
  BoardsDocument,
  CreateBoardDocument,
  DeleteBoardDocument,
  RemoveFromBoardDocument,
  RenameBoardDocument,
  StarMediaDocument,
} from '../../../api/documents/gallery.ts';

/** The boards of the caller, and what can be done with them. */
export type Boards = ReturnType<typeof useBoards>;

const AFTER = { refetchQueries: [BoardsDocument], awaitRefetchQueries: true };

/** Reads the boards, and keeps them as they are changed; none of visitors. */
export function useBoards() {
  const isSignedIn = useIsSignedIn();
  const { data, error } = useQuery(BoardsDocument, { skip: !isSignedIn, fetchPolicy: 'cache-and-network' });
  const [refused, setRefused] = useState<unknown>(undefined);
  const [starred, setStarred] = useState<ReadonlyMap<string, boolean>>(new Map());
  const attempt = async <Value>(change: () => Promise<Value>): Promise<Value | null> => {
    setRefused(undefined);
    try {
      return await change();
    } catch (thrown) {
      setRefused(thrown);
      return null;
    }
  };
  const done = async (change: () => Promise<unknown>) =>
    (await attempt(async () => {
      await change();
      return true;
    })) === true;
  return {
    boards: data?.boards ?? [],
    /** Why the last change was refused; undefined when it was not. */
    error: refused ?? error,
    /** Stars that were set or taken on this page, by id of the file. */
    starred,
    /** Puts files on a board; from another one, which they leave, when that is named. */
    put: (id: string, mediaIds: readonly string[], from?: string) =>
      done(() =>
        client.mutate({
          mutation: AddToBoardDocument,
          variables: { id, mediaIds: [...mediaIds], from: from ?? null },
          ...AFTER,
        }),
      ),
    take: (id: string, mediaIds: readonly string[]) =>
      done(() =>
        client.mutate({
          mutation: RemoveFromBoardDocument,
          variables: { id, mediaIds: [...mediaIds] },
          ...AFTER,
        }),
      ),
    /** Its id; null when it was refused. */
    create: (name: string) =>
      attempt(async () => {
        const answer = await client.mutate({ mutation: CreateBoardDocument, variables: { name }, ...AFTER });
        return answer.data?.createBoard.id ?? null;
      }),
    rename: (id: string, name: string) =>
      done(() => client.mutate({ mutation: RenameBoardDocument, variables: { id, name } })),
    remove: (id: string) =>
      done(() => client.mutate({ mutation: DeleteBoardDocument, variables: { id }, ...AFTER })),
    star: (ids: readonly string[], isStarred: boolean) =>
      done(async () => {
        await client.mutate({
          mutation: StarMediaDocument,
          variables: { ids: [...ids], starred: isStarred },
        });
        setStarred((before) => new Map([...before, ...ids.map((id) => [id, isStarred] as const)]));
      }),
  };
}

/** Files of the gallery while they are dragged onto a board. */

const TYPE = 'application/x-kiln-files';

/** Gives a drag the ids of what is dragged. */
export function drag(event: DragEvent, ids: readonly string[]): void {
  event.dataTransfer.setData(TYPE, JSON.stringify(ids));
  event.dataTransfer.effectAllowed = 'copyMove';
}

/** Whether what is dragged are files of the gallery. */
export function isDragged({ dataTransfer }: DragEvent): boolean {
  return dataTransfer.types.includes(TYPE);
}

/** The ids of what was dropped; none when it is something else. */
export function draggedIds({ dataTransfer }: DragEvent): readonly string[] {
  const text = dataTransfer.getData(TYPE);
  return text === '' ? [] : (JSON.parse(text) as readonly string[]);
}
