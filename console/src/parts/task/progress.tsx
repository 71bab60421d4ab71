import { t } from '../../text/text.ts';

/** How far a running task is; the stage is in the reader's language. */
export function ProgressBar({ progress, stage }: { readonly progress: number; readonly stage: string }) {
  return (
    <div
      className="bar"
      role="progressbar"
      aria-label={t('task.progress')}
      aria-valuenow={progress}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuetext={`${progress} %, ${stage}`}
    >
      <i style={{ width: `${progress}%` }} />
    </div>
  );
}
