import type { MediaPartsFragment, ProducerPartsFragment } from '../api/documents/operations.ts';
import { Icon } from '../parts/icons.tsx';
import { Figures } from '../parts/looks/lines.tsx';
import { t } from '../text/text.ts';
import { findBatch, readTitle } from '../work/batches.ts';

/** One file of the gallery, with the task that has made it; null for an upload. */
export interface Piece {
  readonly media: MediaPartsFragment;
  readonly task: Producer | null;
  /** Whether the caller has starred it; absent where that was not asked for. */
  readonly starred?: boolean;
}

/** What is shown of the task of a piece; visitors know what they asked for from this browser. */
type Producer = Pick<ProducerPartsFragment, 'id' | 'kind' | 'generator'> & Partial<ProducerPartsFragment>;

/** What the gallery shows. */
export interface Pieces {
  readonly pieces: readonly Piece[];
  /** How many there are, loaded or not; null when that is not known. */
  readonly total: number | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Asks once more for what has failed; null where nothing has, or nothing more can be done. */
  readonly again: (() => void) | null;
  /** Loads the next page, once however often it is called; nothing when there is none. */
  readonly loadMore: () => void;
  /** Takes deleted files out. */
  readonly drop: (ids: ReadonlySet<string>) => void;
}

interface PreviewProps {
  readonly piece: Piece;
  readonly name: string;
  /** What it is in: a strip of small ones, or the rows of the gallery. */
  readonly place?: keyof typeof LENGTH;
}

/** Where the length of a video stands. */
const LENGTH = {
  strip: 'absolute bottom-1 left-1 h-5 min-w-5 px-1',
  rows: 'absolute top-1.5 left-1.5 h-6 min-w-7 px-2',
  squares: 'h-7 min-w-7 px-2',
};

/** The waveform of a recording; in a strip there is no room for it. */
const WAVE = { strip: 'hidden', rows: 'h-14 w-full object-fill', squares: 'h-full w-full object-cover' };
/** An image fills its place. */
const IMAGE = {
  strip: 'h-18 w-auto max-w-32 min-w-18 object-cover',
  rows: 'h-full w-full object-cover',
  squares: 'h-full w-full object-cover',
};

/** What a piece looks like from afar, and its name: it is the whole content of a link or button. */
export function Preview({ piece: { media }, name, place = 'squares' }: PreviewProps) {
  const { url, thumbnail, contentType, duration } = media;
  if (contentType.startsWith('image/')) {
    return (
      <img
        className={IMAGE[place]}
        src={thumbnail ?? url}
        alt={name}
        decoding="async"
        // Of some files that a browser can show no thumbnail can be made.
        onError={({ currentTarget }) => {
          if (currentTarget.src !== url) currentTarget.src = url;
        }}
      />
    );
  }
  if (contentType.startsWith('video/')) {
    return (
      <>
        {thumbnail === null ? (
          <span className="sr-only">{name}</span>
        ) : (
          <img className={IMAGE[place]} src={thumbnail} alt={name} decoding="async" />
        )}
        <span
          className={`inline-flex items-center gap-1 rounded-control bg-veil text-12 font-medium text-white ${LENGTH[place]}`}
        >
          <Icon name="play" size={12} />
          {duration === null ? '' : t('time.seconds', { seconds: duration.toFixed(0) })}
        </span>
      </>
    );
  }
  return (
    <span
      className={`flex h-full flex-col justify-between rounded-small border border-line bg-surface text-muted ${place === 'strip' ? 'w-32 p-2 text-11 font-normal' : 'p-3'}`}
    >
      <span className="gap-1 text-12 font-normal flex items-center min-w-0">
        <Icon name="speech" size={14} />
        <span className="line-clamp-2 overflow-hidden">{name}</span>
      </span>
      {thumbnail !== null && <img className={WAVE[place]} src={thumbnail} alt="" decoding="async" />}
      <Figures small>{duration === null ? '' : t('time.seconds', { seconds: duration.toFixed(1) })}</Figures>
    </span>
  );
}

/** What a piece is called: what was asked for, else its kind, else its file name. */
export function namePiece({ media, task }: Piece): string {
  if (task === null) return media.name;
  const batch = findBatch(task.id);
  return task.input?.prompt ?? (batch === undefined ? null : readTitle(batch)) ?? t(`kind.${task.kind}`);
}
