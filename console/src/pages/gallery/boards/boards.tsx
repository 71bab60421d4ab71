import { Link } from '@tanstack/react-router';
import { type DragEvent, type ReactNode, useState } from 'react';

import type { BoardPartsFragment } from '../../../api/documents/operations.ts';
import { Modal } from '../../../parts/controls/modal.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Help } from '../../../parts/looks/inputs.tsx';
import { Figures } from '../../../parts/looks/lines.tsx';
import { Problem, problemText } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { NameDialog, BoardShareDialog } from './board-dialogs.tsx';
import { draggedIds, isDragged, type Boards } from './use-boards.ts';

interface BoardBarProps {
  readonly boards: Boards;
  /** What is shown: a board by its id, the starred ones, or all. */
  readonly shown: { readonly board?: string | undefined; readonly starred?: true | undefined };
  /** Puts what was dropped on a board, or stars it for null. */
  readonly onDropped: (board: string | null, ids: readonly string[]) => void;
}

/** The square before the name of a board. */
const COVER = 'grid size-8 place-items-center overflow-hidden rounded-control bg-sunken text-muted';

/** All files, the starred ones and each board; files are dropped on them. */
export function BoardBar({ boards, shown, onDropped }: BoardBarProps) {
  const [isNaming, setIsNaming] = useState(false);
  return (
    <nav
      className="-mx-1 flex items-center gap-2 overflow-x-auto px-1 pt-1 pb-3 [scrollbar-width:thin] [&>*]:flex-none"
      aria-label={t('board.title')}
    >
      <BoardLink search={{}} isCurrent={shown.board === undefined && shown.starred === undefined}>
        <span className={COVER}>
          <Icon name="gallery" />
        </span>
        <span className="truncate min-w-0">{t('board.all')}</span>
      </BoardLink>
      <BoardLink
        search={{ starred: true }}
        isCurrent={shown.starred === true}
        onDropped={(ids) => onDropped(null, ids)}
      >
        <span className={COVER}>
          <Icon name="star" />
        </span>
        <span className="truncate min-w-0">{t('board.starred')}</span>
      </BoardLink>
      {boards.boards.map(({ id, name, count, cover, share }) => (
        <BoardLink
          key={id}
          search={{ board: id }}
          isCurrent={id === shown.board}
          onDropped={(ids) => onDropped(id, ids)}
        >
          <span className={COVER}>
            {cover?.small ? (
              <img className="h-full w-full object-cover" src={cover.small} alt="" />
            ) : (
              <Icon name="board" />
            )}
          </span>
          <span className="truncate min-w-0">{name}</span>
          <Figures tone="muted">{count}</Figures>
          {share !== null && <Icon name="share" size={12} />}
        </BoardLink>
      ))}
      <Button kind="ghost" onClick={() => setIsNaming(true)}>
        <Icon name="plus" size={14} />
        {t('board.new')}
      </Button>
      {boards.error !== undefined && (
        <Help bad role="alert">
          {problemText(boards.error)}
        </Help>
      )}
      {isNaming && (
        <NameDialog
          title={t('board.new')}
          name=""
          onClose={() => setIsNaming(false)}
          onName={async (name) => (await boards.create(name)) !== null}
          error={boards.error}
        />
      )}
    </nav>
  );
}

interface BoardLinkProps {
  readonly search: { readonly board?: string; readonly starred?: true };
  readonly isCurrent: boolean;
  readonly onDropped?: (ids: readonly string[]) => void;
  readonly children: ReactNode;
}

function BoardLink({ search, isCurrent, onDropped, children }: BoardLinkProps) {
  const [isOver, setIsOver] = useState(false);
  const events =
    onDropped === undefined
      ? {}
      : {
          onDragOver(event: DragEvent) {
            if (!isDragged(event)) return;
            event.preventDefault();
            setIsOver(true);
          },
          onDragLeave: () => setIsOver(false),
          onDrop(event: DragEvent) {
            event.preventDefault();
            setIsOver(false);
            onDropped(draggedIds(event));
          },
        };
  return (
    <Link
      className={`flex h-11 max-w-60 items-center gap-2 rounded-panel border pr-3 pl-1.5 hover:bg-hover ${isCurrent ? 'bg-select' : 'bg-surface'} ${isOver ? 'border-focus outline-2 outline-focus' : isCurrent ? 'border-select-line' : 'border-line'}`}
      to="/gallery"
      search={search}
      activeOptions={{ exact: true, includeSearch: true }}
      {...events}
    >
      {children}
    </Link>
  );
}

interface BoardHeadProps {
  readonly board: BoardPartsFragment;
  readonly boards: Boards;
  /** Called when it is no more. */
  readonly onGone: () => void;
}

/** The board that is open: its name, and what can be done with all of it. */
export function BoardHead({ board, boards, onGone }: BoardHeadProps) {
  const [over, setOver] = useState<'name' | 'share' | 'delete' | null>(null);
  /** Whether it was not deleted when that was asked for here. */
  const [isRefused, setRefused] = useState(false);
  const close = () => setOver(null);
  return (
    <div className="flex flex-wrap items-center gap-2 pb-2 [&_h2]:text-16 [&_h2]:font-semibold [&_h2]:mr-2">
      <h2 className="truncate min-w-0">{board.name}</h2>
      <Button size="small" onClick={() => setOver('share')}>
        <Icon name="share" size={14} />
        {t('gallery.shareIt')}
      </Button>
      <Button kind="ghost" size="small" onClick={() => setOver('name')}>
        {t('board.rename')}
      </Button>
      <Button kind="ghost-bad" size="small" onClick={() => setOver('delete')}>
        {t('board.delete')}
      </Button>
      {over === 'name' && (
        <NameDialog
          title={t('board.rename')}
          name={board.name}
          onClose={close}
          onName={(name) => boards.rename(board.id, name)}
          error={boards.error}
        />
      )}
      {over === 'share' && <BoardShareDialog board={board} onClose={close} />}
      {over === 'delete' && (
        <Modal
          title={t('board.deleteSure', { name: board.name })}
          onClose={close}
          foot={
            <Button
              kind="bad"
              onClick={() =>
                void boards.remove(board.id).then((isGone) => (isGone ? onGone() : setRefused(true)))
              }
            >
              {t('board.delete')}
            </Button>
          }
        >
          <p className="text-muted">{t('board.deleteText')}</p>
          {isRefused && <Problem error={boards.error} />}
        </Modal>
      )}
    </div>
  );
}
