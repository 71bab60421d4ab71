import { Icon } from '../parts/icons.tsx';
import { t } from '../text/text.ts';
import { batchOfTask, titleOf } from '../work/batches.ts';
import type { Piece } from './pieces.ts';

/** What a piece looks like from afar, and its name: it is the whole content of a link or button. */
export function Preview({ piece: { media }, name }: { readonly piece: Piece; readonly name: string }) {
  const { url, thumbnail, contentType, duration } = media;
  if (contentType.startsWith('image/')) {
    return (
      <img
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
          <img src={thumbnail} alt={name} decoding="async" />
        )}
        <span className="onpic inline-flex items-center gap-1 [.shot-open_&]:absolute [.shot-open_&]:left-1 [.shot-open_&]:bottom-1 [.shot-open_&]:h-5 [.shot-open_&]:min-w-5 [.shot-open_&]:py-0 [.shot-open_&]:px-1 [.jg_&]:absolute [.jg_&]:left-1.5 [.jg_&]:top-1.5 [.jg_&]:h-6">
          <Icon name="play" size={12} />
          {duration === null ? '' : t('time.seconds', { seconds: duration.toFixed(0) })}
        </span>
      </>
    );
  }
  return (
    <span className="flex flex-col justify-between p-3 h-full bg-surface border border-line rounded-small text-muted [.shot-open_&]:w-32 [.shot-open_&]:p-2 [.shot-open_&]:text-11 [.shot-open_&]:font-normal">
      <span className="gap-1 text-12 font-normal flex items-center min-w-0">
        <Icon name="speech" size={14} />
        <span className="line-clamp-2 overflow-hidden">{name}</span>
      </span>
      {thumbnail !== null && (
        <img
          className="[.shot-open_.wavecard_&]:hidden [.jg_.wavecard_&]:h-14 [.jg_.wavecard_&]:[object-fit:fill]"
          src={thumbnail}
          alt=""
          decoding="async"
        />
      )}
      <span className="text-right whitespace-nowrap text-12 font-normal tabular-nums">
        {duration === null ? '' : t('time.seconds', { seconds: duration.toFixed(1) })}
      </span>
    </span>
  );
}

/** What a piece is called: what was asked for, else its kind, else its file name. */
export function nameOfPiece({ media, task }: Piece): string {
  if (task === null) return media.name;
  const batch = batchOfTask(task.id);
  return task.input?.prompt ?? (batch === undefined ? null : titleOf(batch)) ?? t(`kind.${task.kind}`);
}
