import type { KeyboardEvent } from 'react';

import { Preview } from '../../../library/piece.tsx';
import { Tick } from '../../../parts/controls/selection.tsx';
import { Figures } from '../../../parts/looks/lines.tsx';
import { StateBadge } from '../../../parts/task/state.tsx';
import { t } from '../../../text/text.ts';
import { readTitle } from '../../../work/batches.ts';
import { isWorking, type Shot } from './shots.ts';

interface StripProps {
  readonly shots: readonly Shot[];
  /** Id of the one that is large. */
  readonly current: string | undefined;
  readonly ticked: readonly string[];
  readonly onChoose: (id: string) => void;
  readonly onTick: (id: string) => void;
}

/** Every result as a small image, newest first; arrows move through them, ticks choose what is compared. */
export function Strip({ shots, current, ticked, onChoose, onTick }: StripProps) {
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || !(event.target instanceof HTMLElement)) return;
    event.preventDefault();
    const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-shot-open]')];
    buttons[buttons.indexOf(event.target) + step]?.focus();
  };
  return (
    <ul
      className="flex gap-2 overflow-x-auto p-1 my-0 -mx-1 [scrollbar-width:thin]"
      aria-label={t('studio.strip')}
      onKeyDown={move}
    >
      {shots.map((shot) => (
        <li
          key={shot.id}
          data-shot={shot.media === null ? 'none' : 'done'}
          className="group relative flex-none"
        >
          <ShotButton shot={shot} isCurrent={shot.id === current} onChoose={onChoose} />
          {shot.media?.contentType.startsWith('image/') === true && (
            <Tick
              className="top-1 right-1"
              isOn={ticked.includes(shot.id)}
              label={t('compare.choose', { name: nameShot(shot) })}
              title={t('compare.add')}
              size={12}
              onClick={() => onTick(shot.id)}
            />
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
  const name = nameShot(shot);
  return (
    <button
      type="button"
      data-shot-open
      className="relative block h-18 min-w-18 max-w-32 overflow-hidden rounded-control bg-media aria-[current=true]:outline-2 aria-[current=true]:outline-offset-2 aria-[current=true]:outline-focus"
      aria-current={isCurrent}
      title={name}
      onClick={() => onChoose(id)}
    >
      {media !== null && <Preview piece={{ media, task: null }} name={name} place="strip" />}
      {media === null && (
        <span className="grid place-content-center [justify-items:center] gap-1 w-18 h-18 border border-dashed border-line-strong rounded-[inherit] bg-surface text-11 font-normal">
          <StateBadge state={task?.state ?? 'QUEUED'} />
          {isWorking(shot) && task?.state === 'RUNNING' && <Figures>{task.progress} %</Figures>}
        </span>
      )}
    </button>
  );
}

function nameShot({ batch }: Shot): string {
  return readTitle(batch) ?? t(`kind.${batch.kind}`);
}
