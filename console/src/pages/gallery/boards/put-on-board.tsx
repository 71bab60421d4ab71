import { useState } from 'react';

import type { BoardPartsFragment } from '../../../api/documents/operations.ts';
import type { Piece } from '../../../library/piece.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Select } from '../../../parts/looks/inputs.tsx';
import { t } from '../../../text/text.ts';
import { NameDialog } from './board-dialogs.tsx';
import type { Boards } from './use-boards.ts';

interface PutOnBoardProps {
  readonly pieces: readonly Piece[];
  readonly boards: Boards;
  /** The board that is open. */
  readonly board: BoardPartsFragment | undefined;
  readonly onPut: (board: string, ids: readonly string[]) => Promise<void>;
  readonly onLeft: (ids: ReadonlySet<string>) => void;
}

const NEW = 'new';

/** Stars all that is ticked, and puts it on a board, moves it to another one or takes it away. */
export function PutOnBoard({ pieces, boards, board, onPut, onLeft }: PutOnBoardProps) {
  const [isNaming, setIsNaming] = useState(false);
  const ids = pieces.map(({ media }) => media.id);
  const areStarred = pieces.every(({ media, starred }) => boards.starred.get(media.id) ?? starred === true);
  const take = async (from: string) => {
    if (await boards.take(from, ids)) onLeft(new Set(ids));
  };
  return (
    <>
      <Button size="small" onClick={() => void boards.star(ids, !areStarred)}>
        <Icon name="star" size={14} />
        {t(areStarred ? 'board.unstarAll' : 'board.starAll')}
      </Button>
      <Select
        aria-label={t(board === undefined ? 'board.put' : 'board.move')}
        value=""
        onChange={({ target }) => {
          if (target.value === NEW) setIsNaming(true);
          else if (target.value !== '') void onPut(target.value, ids);
        }}
      >
        <option value="">{t(board === undefined ? 'board.put' : 'board.move')}</option>
        {boards.boards
          .filter(({ id }) => id !== board?.id)
          .map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        <option value={NEW}>{t('board.new')}</option>
      </Select>
      {board !== undefined && (
        <Button size="small" onClick={() => void take(board.id)}>
          {t('board.take')}
        </Button>
      )}
      {isNaming && (
        <NameDialog
          title={t('board.new')}
          name=""
          onClose={() => setIsNaming(false)}
          error={boards.error}
          onName={async (name) => {
            const id = await boards.create(name);
            if (id !== null) await onPut(id, ids);
            return id !== null;
          }}
        />
      )}
    </>
  );
}
