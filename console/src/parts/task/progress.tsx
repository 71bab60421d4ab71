import type { ComponentProps } from 'react';

import { t } from '../../text/text.ts';

interface BarProps extends ComponentProps<'div'> {
  /** How much of it is full, from 0 to 100. */
  readonly share: number;
  /** The class of its colour. */
  readonly fill?: string;
}

/** A bar that is full to a share. */
export function Bar({ share, fill = 'bg-running-fill', ...rest }: BarProps) {
  return (
    <div {...rest} className="h-1 overflow-hidden rounded-[2px] bg-active">
      <i
        className={`block h-full rounded-[2px] transition-[width] duration-(--slow) ease-linear ${fill}`}
        style={{ width: `${share}%` }}
      />
    </div>
  );
}

/** How far a running task is; the stage is in the reader's language. */
export function ProgressBar({ progress, stage }: { readonly progress: number; readonly stage: string }) {
  return (
    <Bar
      share={progress}
      role="progressbar"
      aria-label={t('task.progress')}
      aria-valuenow={progress}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuetext={`${progress} %, ${stage}`}
    />
  );
}
