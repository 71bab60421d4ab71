import { useMemo } from 'react';

import { useIsSignedIn } from '../api/caller.ts';
import type { MediaFilter, MediaKind, MediaPartsFragment } from '../api/documents/operations.ts';
import { Modal } from '../parts/controls/modal.tsx';
import { Empty, Problem } from '../parts/problem.tsx';
import { t } from '../text/text.ts';
import { accepts } from '../work/files.ts';
import { namePiece, Preview } from './piece.tsx';
import { usePieces } from './use-pieces.ts';

interface PickerProps {
  readonly accept: string;
  readonly onPick: (media: MediaPartsFragment) => void;
  readonly onClose: () => void;
}

const KINDS: Readonly<Record<string, MediaKind>> = {
  'image/*': 'IMAGE',
  'video/*': 'VIDEO',
  'audio/*': 'AUDIO',
};

/** Chooses a file of the gallery as an input: those that fit, newest first. */
export function GalleryPicker({ accept, onPick, onClose }: PickerProps) {
  const isSignedIn = useIsSignedIn();
  const filter = useMemo(() => toFilter(accept), [accept]);
  const { pieces, error, isLoading } = usePieces(isSignedIn, filter);
  const fitting = pieces.filter(({ media }) => accepts(accept, media.contentType));
  return (
    <Modal title={t('file.pick')} onClose={onClose} width="w-[min(880px,calc(100vw_-_32px))]">
      {error !== undefined && <Problem error={error} />}
      {isLoading && <p className="text-muted">{t('list.loading')}</p>}
      {!isLoading && fitting.length === 0 && <Empty title={t('file.pickNone')} />}
      <ul
        className="grid grid-cols-[repeat(auto-fill,minmax(128px,1fr))] gap-2 max-h-[60vh] overflow-y-auto p-1"
        data-picks
      >
        {fitting.map((piece) => (
          <li key={piece.media.id}>
            <button
              type="button"
              className="relative block aspect-square w-full overflow-hidden rounded-control bg-media"
              onClick={() => onPick(piece.media)}
            >
              <Preview piece={piece} name={namePiece(piece)} />
            </button>
          </li>
        ))}
      </ul>
    </Modal>
  );
}

function toFilter(accept: string): MediaFilter {
  const kinds = accept.split(',').flatMap((one) => KINDS[one] ?? []);
  return { kinds };
}
