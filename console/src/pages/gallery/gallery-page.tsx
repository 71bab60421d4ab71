import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';

import { useIsSignedIn } from '../../api/credential.ts';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { Drawer } from './drawer.tsx';
import { GalleryItem } from './gallery-item.tsx';
import { usePieces } from './use-pieces.ts';

const KINDS = ['image', 'video', 'audio'] as const;

/** Everything that was made, newest first, in rows of one height; one opens beside it. */
export function GalleryPage() {
  const { open, kind } = useSearch({ from: '/gallery' });
  const navigate = useNavigate({ from: '/gallery' });
  const isSignedIn = useIsSignedIn();
  const { pieces, error, isLoading, showMore } = usePieces(isSignedIn);
  const shown = pieces.filter(({ media }) => kind === undefined || media.contentType.startsWith(`${kind}/`));
  const current = shown.findIndex(({ media }) => media.id === open);
  const show = (index: number) => {
    const piece = shown[index];
    if (piece !== undefined)
      void navigate({ search: (before) => ({ ...before, open: piece.media.id }), replace: true });
  };
  const close = () => void navigate({ search: kind === undefined ? {} : { kind }, replace: true });
  useArrows(current, show, close);
  return (
    <>
      <header className="top">
        <h1>{t('page.gallery')}</h1>
        <div className="bars push" role="group" aria-label={t('gallery.filter')}>
          {[undefined, ...KINDS].map((one) => (
            <button
              key={one ?? 'all'}
              type="button"
              className="chip"
              aria-pressed={one === kind}
              onClick={() => void navigate({ search: one === undefined ? {} : { kind: one } })}
            >
              {t(one === undefined ? 'tasks.all' : `gallery.${one}`)}
            </button>
          ))}
        </div>
      </header>
      <div className={current === -1 ? 'gal' : 'gal open'}>
        <div className="gbody">
          {error !== undefined && <Problem error={error} />}
          {!isLoading && shown.length === 0 && (
            <Empty title={t('gallery.none')} text={t('tasks.noneText')}>
              <Link className="btn pri" to="/">
                {t('page.studio')}
              </Link>
            </Empty>
          )}
          <div className="jg">
            {shown.map(({ media, task }) => (
              <GalleryItem key={media.id} media={media} task={task} kind={kind} />
            ))}
          </div>
          {showMore !== null && (
            <button type="button" className="btn" onClick={showMore}>
              {t('list.more')}
            </button>
          )}
        </div>
        {shown[current] !== undefined && <Drawer piece={shown[current]} onClose={close} />}
      </div>
    </>
  );
}

/** Left and right move to the next one, Escape closes it; not while somebody types. */
function useArrows(current: number, show: (index: number) => void, close: () => void): void {
  useEffect(() => {
    if (current === -1) return undefined;
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (target instanceof HTMLElement && target.closest('input, textarea, select, video, audio') !== null)
        return;
      if (key === 'ArrowRight') show(current + 1);
      if (key === 'ArrowLeft') show(current - 1);
      if (key === 'Escape') close();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}
