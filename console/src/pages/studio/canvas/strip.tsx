import type { KeyboardEvent } from 'react';

import { Preview } from '../../../library/piece.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { StateBadge } from '../../../parts/task/state.tsx';
import { t } from '../../../text/text.ts';
import { titleOf } from '../../../work/batches.ts';
import { isWorking, type Shot } from './shots.ts';

interface StripProps {
  readonly shots: readonly Shot[];
  /** Id of the one that is large. */
  readonly current: string | undefined;
  readonly ticked: readonly string[];
  readonly onChoose: (id: string) => void;
  readonly onTick: (id: string) => void;
}

/** Every result as a small picture, newest first; arrows move through them, ticks choose what is compared. */
export function Strip({ shots, current, ticked, onChoose, onTick }: StripProps) {
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || !(event.target instanceof HTMLElement)) return;
    event.preventDefault();
    const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('.shot-open')];
    buttons[buttons.indexOf(event.target) + step]?.focus();
  };
  return (
    <ul
      className="flex gap-2 overflow-x-auto p-1 my-0 -mx-1 [scrollbar-width:thin]"
      aria-label={t('studio.strip')}
      onKeyDown={move}
    >
      {shots.map((shot) => (
        <li key={shot.id} className={shot.media === null ? 'shot' : 'shot done'}>
          <ShotButton shot={shot} isCurrent={shot.id === current} onChoose={onChoose} />
          {shot.media?.contentType.startsWith('image/') === true && (
            <button
              type="button"
              className="g-tick"
              role="checkbox"
              aria-checked={ticked.includes(shot.id)}
              aria-label={t('compare.choose', { name: nameOf(shot) })}
              title={t('compare.add')}
              onClick={() => onTick(shot.id)}
            >
              <Icon name="check" size={12} />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

interface ShotButtonProps {
  readonly shot: Shot;
  readonly isCurrent: boolean;
  readonly onChoose: (id: string) => void;
}

function ShotButton({ shot, isCurrent, onChoose }: ShotButtonProps) {
  const { id, task, media } = shot;
  const name = nameOf(shot);
  return (
    <button
      type="button"
      className={`shot-open relative block h-18 min-w-18 max-w-32 overflow-hidden rounded-control bg-media [&_img]:w-auto [&_img]:h-18 [&_img]:min-w-18 [&_img]:max-w-32 [&_img]:object-cover [&[aria-current='true']]:[outline:2px_solid_var(--focus)] [&[aria-current='true']]:[outline-offset:2px] ${task?.state ?? ''}`}
      aria-current={isCurrent}
      title={name}
      onClick={() => onChoose(id)}
    >
      {media !== null && <Preview piece={{ media, task: null }} name={name} />}
      {media === null && (
        <span className="grid place-content-center [justify-items:center] gap-1 w-18 h-18 border border-dashed border-line-strong rounded-[inherit] bg-surface text-11 font-normal">
          <StateBadge state={task?.state ?? 'QUEUED'} />
          {isWorking(shot) && task?.state === 'RUNNING' && (
            <span className="text-right whitespace-nowrap tabular-nums">{task.progress} %</span>
          )}
        </span>
      )}
    </button>
  );
}

function nameOf({ batch }: Shot): string {
  return titleOf(batch) ?? t(`kind.${batch.kind}`);
}
